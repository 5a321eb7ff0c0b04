"""Lets the tests of this folder import their builders, and keeps OpenCV to one thread: frames are small."""

import sys
from pathlib import Path

import cv2

sys.path.insert(0, str(Path(__file__).parent))
cv2.setNumThreads(1)
