"""Steps that produce NaN or infinity: finding the cause, storing and reporting it."""
