# Runs inside the sandbox: analysis.py, analysis.mjs, analysis/main.go and browser/page.js send it there.
import matplotlib.pyplot as plt
import pandas as pd

totals = pd.read_csv("sales.csv").groupby("region")["amount"].sum()
plt.bar(totals.index, totals.values)
plt.title("Sales by region")
plt.ylabel("amount")
plt.show()
totals.to_frame()
