"""Steps that come to NaN or infinity: noticed, run again to find out why, kept, told of."""
