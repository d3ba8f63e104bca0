"""The programs are run by the test itself; most of them fail on purpose."""

collect_ignore_glob = ["sketches/*", "mended/*"]
