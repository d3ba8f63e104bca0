"""A PyTorch script with only its imports changed. With PyTorch, they were:

    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

Run: python examples/ported_from_pytorch.py
"""

import tinynet as torch
from tinynet import nn
from tinynet.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, kernel_size=5, padding=2)
        self.lstm = nn.LSTM(8, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.conv(x.unsqueeze(1))).transpose(1, 2)
        outputs, _ = self.lstm(x)
        return self.head(outputs[:, -1]).squeeze(-1)


def waves(count, length=40):
    """Return noisy sine waves and their frequencies."""
    frequencies = torch.empty(count).uniform_(0.5, 3)
    times = torch.linspace(0, 2 * torch.pi, length)
    phases = 2 * torch.pi * torch.rand(count, 1)
    signals = torch.sin(frequencies[:, None] * times + phases)
    return signals + 0.1 * torch.randn(count, length), frequencies


def main(count=512, epochs=8):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(TensorDataset(*waves(count)), batch_size=32, shuffle=True)
    test_signals, test_frequencies = (t.to(device) for t in waves(128))
    model = Net().to(device)
    criterion = nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1e-2, epochs=epochs, steps_per_epoch=len(loader)
    )
    for epoch in range(epochs):
        model.train()
        for signals, frequencies in loader:
            signals, frequencies = signals.to(device), frequencies.to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(signals), frequencies)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            scheduler.step()
        model.eval()
        with torch.no_grad():
            test_loss = criterion(model(test_signals), test_frequencies).item()
        print(f"epoch {epoch + 1}: test loss {test_loss:.4f}")
    return test_loss


if __name__ == "__main__":
    main()
