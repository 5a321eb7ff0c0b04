# pitwatch: set-up, run, test, train. Needs Python 3.10 or later and make; everything else it installs itself.
PYTHON ?= python3
VENV := .venv
TRAIN := .venv-train
BIN := $(VENV)/bin
ARGS ?=

.PHONY: setup setup-train system run test lint format test-train train bench clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo,pit,dev]'
	touch $@

setup-train: $(TRAIN)/.ready

# torch first and alone: the extra must not pull another build of it
$(TRAIN)/.ready: pyproject.toml
	$(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.14.1 torchvision==0.29.1
	$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[demo,pit,dev,train]'
	# ultralytics asks for the opencv wheel that needs a screen; one cv2 only
	$(TRAIN)/bin/python -m pip uninstall --quiet --yes opencv-python
	$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps 'opencv-python-headless>=4.10,<6'
	touch $@

run: setup
	$(BIN)/pitwatch demo $(ARGS)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# a broker, a browser and the like, which tests run for real
system:
	@sh tests/system-packages.sh

test: system lint
	$(BIN)/python -m pytest $(ARGS)

test-train: setup-train
	$(TRAIN)/bin/python -m pytest models/training $(ARGS)

train: setup-train
	$(TRAIN)/bin/python -m models.training $(ARGS)

bench: setup
	$(BIN)/python -m models.bench $(ARGS)

clean:
	rm -rf $(VENV) $(TRAIN) build dist runs
