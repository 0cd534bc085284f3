"""The routing study on PySpark (the report's figure 4.2).

Law of this package: a thin layer over pure kernels; pyspark is imported nowhere else.
"""
