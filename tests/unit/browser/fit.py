"""The same with `train.fit`, and the graph of a step. Prints the accuracy."""

import tinynet as torch
from tinynet import board, exchange, nn, optim, train
from tinynet.utils.data import DataLoader

torch.manual_seed(0)
net = nn.Linear(64, 10)
loss = nn.CrossEntropyLoss()
digits = DataLoader(torch.data.Digits(train=True, flatten=True), batch_size=16, shuffle=True)
test = DataLoader(torch.data.Digits(train=False, flatten=True), batch_size=500)
train.fit(net, loss, optim.SGD(net.parameters(), lr=0.5), digits, 3).run()
with board.record(net) as recorded:
    loss(*[net(torch.ones(1, 64)), torch.tensor([3])]).backward()
assert "AddmmBackward0" in recorded.svg("backward")
assert "AddmmBackward0" in board.draw(net(torch.ones(1, 64))).svg()
exchange.save(net.state_dict(), "weights.npz")
net.load_state_dict(exchange.load("weights.npz"))
print(train.evaluate(net, loss, test)["accuracy"])
