"""``torch.hub`` and ``torch.utils.model_zoo``: tinynet downloads nothing."""

from tinynet.compat.refusal import refusal

_LOCAL = "tinynet downloads nothing; download the file and use load or load_file"
load = refusal("hub.load", _LOCAL)
load_url = load_state_dict_from_url = refusal("hub.load_state_dict_from_url", _LOCAL)
download_url_to_file = refusal("hub.download_url_to_file", _LOCAL)
list = refusal("hub.list", _LOCAL)
