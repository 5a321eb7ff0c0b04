"""`pitwatch setup`: the wizard that leads a technician from an empty bracket to a judged table.

In: a folder, a camera, taps on a page. Out: a table's file with its calibration and layout, a commissioning
sheet and a backup. Wiring only: what it finds out, it asks of the rooms that know it.
"""
