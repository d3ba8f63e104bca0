"""The sketches are programs that fail on purpose; the test runs them itself."""

collect_ignore_glob = ["sketches/*"]
