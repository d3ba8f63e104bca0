"""Rows for the operations behind RNN, LSTM and GRU."""

from .samples import f, sample


def weights(gates, inputs, size):
    return f(gates * size, inputs).unit, f(gates * size, size).unit


for _reverse in (False, True):
    for _steps, _batch, _size in ((3, 2, 2), (1, 1, 3), (2, 0, 2)):
        _x = f(_steps, _batch, 2)
        _state = f(1, _batch, _size).unit if _batch == 2 else f(_batch, _size).unit
        _bias = [f(gates * _size).unit for gates in range(5)]
        for _relu in (False, True):
            sample("rnn_sequence", _x, _state, *weights(1, 2, _size), _bias[1], _relu, _reverse)
        sample("lstm_sequence", _x, _state, _state, *weights(4, 2, _size), _bias[4], _reverse)
        sample("gru_sequence", _x, _state, *weights(3, 2, _size), _bias[3], _bias[3], _reverse)
    _x, _state = f(2, 3, 2).transposed, f(1, 3, 2).unit.transposed
    _w, _v = weights(4, 2, 2)
    sample("lstm_sequence", _x, _state, _state, _w.strided, _v.transposed, f(8).unit, _reverse)
    _w, _v = weights(3, 2, 2)
    _bias = f(6).unit, f(6).unit.strided
    sample("gru_sequence", _x, _state, _w.transposed, _v.strided, *_bias, _reverse)
    _w, _v = weights(1, 2, 2)
    sample("rnn_sequence", _x, _state, _w.strided, _v.expanded, f(2).unit, False, _reverse)
