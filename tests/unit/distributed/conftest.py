"""Not collected: programs that tests start with mpirun."""

collect_ignore = ["programs", "scripts"]
