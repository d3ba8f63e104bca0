"""Linear."""

from .spec import Table, f

TABLE = Table("linear")
TABLE.layer("Linear", lambda lib: lib.nn.Linear(3, 4), f(2, 3))
TABLE.layer("Linear-no-bias", lambda lib: lib.nn.Linear(3, 4, bias=False), f(2, 3))
TABLE.layer("MSELoss", lambda lib: lib.nn.MSELoss(), f(2, 3), f(2, 3).const)
TABLE.fails("Linear-shape", lambda lib: lib.nn.Linear(3, 4)(lib.zeros(2, 2)))
