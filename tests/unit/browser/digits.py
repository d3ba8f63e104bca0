"""Training on the digits with a hand-written loop, as in a web page. Prints the accuracy."""

import tinynet as torch
from tinynet import nn, optim
from tinynet.utils.data import DataLoader

EPOCHS = 3

torch.manual_seed(0)
torch.set_num_threads(4)
digits, test = torch.data.Digits(train=True), torch.data.Digits(train=False)
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(128, 10),
)
optimizer = optim.AdamW(net.parameters(), lr=5e-3)
schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
for _ in range(EPOCHS):
    for images, labels in DataLoader(digits, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()
    schedule.step()
net.eval()
with torch.no_grad():
    print((net(test.images).argmax(dim=1) == test.labels).float().mean().item())
