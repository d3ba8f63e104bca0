"""PyTorch's import path of the DataLoader and its collate functions."""

from tinynet.data.loading.collate import default_collate as default_collate
from tinynet.data.loading.collate import default_convert as default_convert
from tinynet.data.loading.loader import DataLoader as DataLoader
from tinynet.data.loading.passes import _BaseDataLoaderIter as _BaseDataLoaderIter
from tinynet.data.loading.passes import (
    _MultiProcessingDataLoaderIter as _MultiProcessingDataLoaderIter,
)
from tinynet.data.loading.passes import _SingleProcessDataLoaderIter as _SingleProcessDataLoaderIter
from tinynet.data.loading.worker import get_worker_info as get_worker_info
