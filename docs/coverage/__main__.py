"""`python -m docs.coverage`: writes docs/coverage.md."""

from .table import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
