"""What datasets, samplers, loaders, generators and schedulers print."""

import tinynet as tn
from tinynet import data, optim


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(3))


class Broken(data.Dataset):
    def __len__(self):
        return self.missing


def test_datasets_and_samplers():
    digits = data.Digits(train=False)
    assert repr(digits) == "Digits(364 samples)"
    assert repr(data.Subset(digits, [1, 2])) == "Subset(2 samples)"
    assert repr(Stream()) == "Stream()" and repr(Broken()) == "Broken()"
    assert repr(data.RandomSampler(digits)) == "RandomSampler(364 samples)"


def test_loaders():
    digits = data.Digits(train=False)
    expected = "DataLoader(Digits(364 samples), batch_size=32, num_workers=0)"
    assert repr(data.DataLoader(digits, 32, shuffle=True)) == expected
    batches = data.BatchSampler(data.SequentialSampler(range(5)), 2, False)
    loader = data.DataLoader(range(5), batch_sampler=batches)
    assert repr(loader) == "DataLoader(range(5 samples), batch_size=2, num_workers=0)"
    alone = data.DataLoader(Stream(), batch_size=None)
    assert repr(alone) == "DataLoader(Stream(), batch_size=None, num_workers=0)"


def test_generators_and_schedulers():
    assert repr(tn.Generator().manual_seed(7)) == "Generator(seed=7)"
    sgd = optim.SGD([tn.nn.Parameter(tn.ones(1))], lr=0.5)
    assert repr(optim.lr_scheduler.StepLR(sgd, 3)) == "StepLR(last_epoch=0, lr=[0.5])"
    plateau = optim.lr_scheduler.ReduceLROnPlateau(sgd)
    assert repr(plateau) == "ReduceLROnPlateau(last_epoch=0, lr=[0.5])"
