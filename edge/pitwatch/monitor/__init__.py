"""Watching one table: the wiring from camera to MQTT, the terminal's display and the local web page."""
