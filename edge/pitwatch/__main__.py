"""`python -m pitwatch`: the same as `pitwatch`."""

from pitwatch.cli import main

if __name__ == "__main__":
    main()
