# Runs inside the sandbox: analysis.py, analysis.mjs and analysis/main.go send it there.
import matplotlib.pyplot as plt
import pandas as pd

totals = pd.read_csv("sales.csv").groupby("region")["amount"].sum()
plt.bar(totals.index, totals.values)
plt.title("Sales by region")
plt.ylabel("amount")
plt.show()
totals.to_frame()
