"""Every generation in every binding. Another binding joins the matrix of test_a2a_matrix.py by joining here."""
from new_generations import Rest10, Rpc10
from old_generations import Rest03, Rpc01, Rpc02, Rpc03

GENERATIONS = (Rpc01, Rpc02, Rpc03, Rest03, Rpc10, Rest10)
OLD_RPC = (Rpc01, Rpc02, Rpc03)
