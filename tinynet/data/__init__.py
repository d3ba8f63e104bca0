"""Datasets, the DataLoader, file readers, transforms and the bundled data set."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.data import transforms as transforms
    from tinynet.data.dataset import ChainDataset as ChainDataset
    from tinynet.data.dataset import ConcatDataset as ConcatDataset
    from tinynet.data.dataset import Dataset as Dataset
    from tinynet.data.dataset import IterableDataset as IterableDataset
    from tinynet.data.dataset import TensorDataset as TensorDataset
    from tinynet.data.loading.collate import default_collate as default_collate
    from tinynet.data.loading.collate import default_convert as default_convert
    from tinynet.data.loading.loader import DataLoader as DataLoader
    from tinynet.data.loading.sampler import BatchSampler as BatchSampler
    from tinynet.data.loading.sampler import DistributedSampler as DistributedSampler
    from tinynet.data.loading.sampler import RandomSampler as RandomSampler
    from tinynet.data.loading.sampler import Sampler as Sampler
    from tinynet.data.loading.sampler import SequentialSampler as SequentialSampler
    from tinynet.data.loading.sampler import SubsetRandomSampler as SubsetRandomSampler
    from tinynet.data.loading.sampler import WeightedRandomSampler as WeightedRandomSampler
    from tinynet.data.loading.worker import WorkerInfo as WorkerInfo
    from tinynet.data.loading.worker import get_worker_info as get_worker_info
    from tinynet.data.readers.arrays import NPY as NPY
    from tinynet.data.readers.arrays import NPZ as NPZ
    from tinynet.data.readers.bundled import Digits as Digits
    from tinynet.data.readers.bundled import Spirals as Spirals
    from tinynet.data.readers.files import FormatError as FormatError
    from tinynet.data.readers.image_folder import DatasetFolder as DatasetFolder
    from tinynet.data.readers.image_folder import ImageFolder as ImageFolder
    from tinynet.data.readers.images import CIFAR10 as CIFAR10
    from tinynet.data.readers.images import CIFAR100 as CIFAR100
    from tinynet.data.readers.images import IDX as IDX
    from tinynet.data.readers.images import MNIST as MNIST
    from tinynet.data.readers.images import FashionMNIST as FashionMNIST
    from tinynet.data.readers.images import read_idx as read_idx
    from tinynet.data.readers.table_rows import CSV as CSV
    from tinynet.data.readers.table_rows import Parquet as Parquet
    from tinynet.data.splits import StackDataset as StackDataset
    from tinynet.data.splits import Subset as Subset
    from tinynet.data.splits import random_split as random_split
    from tinynet.data.texts.byte_pairs import BPETokenizer as BPETokenizer
    from tinynet.data.texts.labelled import LabelledTexts as LabelledTexts
    from tinynet.data.texts.text import PythonSources as PythonSources
    from tinynet.data.texts.text import SkipGrams as SkipGrams
    from tinynet.data.texts.text import Text as Text
    from tinynet.data.texts.tokenizer import CharTokenizer as CharTokenizer
    from tinynet.data.texts.tokenizer import Tokenizer as Tokenizer
    from tinynet.data.texts.tokenizer import WordTokenizer as WordTokenizer
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
