"""Every generation in every binding. A new binding joins the matrix of test_a2a_matrix.py by an entry here."""
import client
from new_generations import Rest10, Rpc10
from old_generations import Rest03, Rpc01, Rpc02, Rpc03

GENERATIONS = (Rpc01, Rpc02, Rpc03, Rest03, Rpc10, Rest10)
OPTIONS = []  # options with which the program offers all of them
if client.has_grpc():
    from grpc_generations import Grpc03, Grpc10
    GENERATIONS = (Rpc01, Rpc02, Rpc03, Rest03, Grpc03, Rpc10, Rest10, Grpc10)
    OPTIONS = ["--grpc-port", "0"]
OLD_RPC = (Rpc01, Rpc02, Rpc03)
