"""Datasets, the DataLoader, readers of files, transforms, and the bundled data set."""

from tinynet.data import transforms as transforms
from tinynet.data.byte_pairs import BPETokenizer as BPETokenizer
from tinynet.data.characters import CharTokenizer as CharTokenizer
from tinynet.data.cifar import CIFAR10 as CIFAR10
from tinynet.data.cifar import CIFAR100 as CIFAR100
from tinynet.data.collate import default_collate as default_collate
from tinynet.data.collate import default_convert as default_convert
from tinynet.data.dataset import Dataset as Dataset
from tinynet.data.dataset import Subset as Subset
from tinynet.data.dataset import TensorDataset as TensorDataset
from tinynet.data.dataset import random_split as random_split
from tinynet.data.digits import Digits as Digits
from tinynet.data.files import FormatError as FormatError
from tinynet.data.idx import IDX as IDX
from tinynet.data.idx import MNIST as MNIST
from tinynet.data.idx import FashionMNIST as FashionMNIST
from tinynet.data.idx import read_idx as read_idx
from tinynet.data.loader import DataLoader as DataLoader
from tinynet.data.sampler import BatchSampler as BatchSampler
from tinynet.data.sampler import RandomSampler as RandomSampler
from tinynet.data.sampler import Sampler as Sampler
from tinynet.data.sampler import SequentialSampler as SequentialSampler
from tinynet.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from tinynet.data.text import PythonSources as PythonSources
from tinynet.data.text import Text as Text
from tinynet.data.tokenizer import Tokenizer as Tokenizer
