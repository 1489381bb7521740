#!/usr/bin/env python3
"""A question-answering pipeline of seven steps, in small: to be profiled, not to be believed.

It has the shape of a pipeline with real models, and no dependency: texts become vectors by
hashing words, the index is searched by brute force, the "language model" is a Markov chain. Each
step costs time and memory as its original does, a thousandth of it: some of it for each batch,
some for each query of one. As in the original, the model is loaded anew for every batch.

    POST /query {"request_id": …, "query": …}
        200 {"request_id", "generated_response", "sentiment", "is_toxic"}
        400 a field is missing; 504 no answer within QUERY_TIMEOUT; 500
    GET /health {"status": "healthy", "node", "total_nodes"}

    TOTAL_NODES (1), NODE_NUMBER (0)    how many nodes there are, and which this is
    NODE_0_IP, NODE_1_IP …              where each listens (localhost:8000)
    MAX_BATCH_SIZE (4), BATCH_WAIT (0.01)  a batch waits so many seconds for each further query
    DOCUMENTS (1500)                    how many the index has
    QUERY_TIMEOUT (300)                 seconds

Clients talk to node 0. It gives queries to all nodes in turn, itself among them.
"""
import array
import concurrent.futures
import hashlib
import http.client
import http.server
import itertools
import json
import operator
import os
import queue
import random
import sqlite3
import sys
import threading

DIMENSIONS = 64
NEIGHBOURS = 10
WORDS = ("the index holds documents about memory batches queries models latency nodes and their "
         "load because a slow step delays every good answer while a fast one makes users happy "
         "terrible errors waste time but a healthy service recovers and excellent tests prove it"
         ).split()
GOOD = {"good", "happy", "fast", "healthy", "excellent"}
BAD = {"slow", "terrible", "errors", "waste"}
TOXIC = {"idiot", "stupid"}
SENTIMENTS = ("very negative", "negative", "neutral", "positive", "very positive")


def setting(name, default):
    return type(default)(os.environ.get(name, default))


# --- the seven steps -----------------------------------------------------------

class Pipeline:
    def __init__(self, documents):
        chance = random.Random(1)
        self.texts = sqlite3.connect(":memory:", check_same_thread=False)
        self.texts.execute("create table documents (id integer primary key, text)")
        self.index = []
        for number in range(documents):
            text = " ".join(chance.choices(WORDS, k=40))
            self.texts.execute("insert into documents values (?, ?)", (number, text))
            self.index.append(self._embed(text))

    @staticmethod
    def _embed(text):
        vector = array.array("f", bytes(4 * DIMENSIONS))
        for word in text.lower().split():
            at = hashlib.blake2b(word.encode(), digest_size=2).digest()
            vector[at[0] % DIMENSIONS] += 1 if at[1] & 1 else -1
        length = sum(x * x for x in vector) ** 0.5 or 1
        return array.array("f", (x / length for x in vector))

    def process_batch(self, queries):
        """(answer, sentiment, is it toxic?) of each."""
        vectors = self._generate_embeddings_batch(queries)
        found = self._faiss_search_batch(vectors)
        documents = self._fetch_documents_batch(found)
        best = self._rerank_documents_batch(queries, documents)
        answers = self._generate_responses_batch(queries, best)
        return list(zip(answers, self._analyze_sentiment_batch(answers),
                        self._filter_response_safety_batch(answers)))

    def _generate_embeddings_batch(self, queries):
        return [self._embed(query) for query in queries]

    def _faiss_search_batch(self, vectors):
        # All scores of a batch are there at once: memory that grows with it.
        scores = [[sum(map(operator.mul, vector, row)) for row in self.index]
                  for vector in vectors]
        return [sorted(range(len(row)), key=row.__getitem__)[-NEIGHBOURS:] for row in scores]

    def _fetch_documents_batch(self, found):
        marks = ",".join("?" * NEIGHBOURS)
        return [[text for text, in self.texts.execute(
                 f"select text from documents where id in ({marks})", ids)] for ids in found]

    def _rerank_documents_batch(self, queries, documents):
        def shared(query, text):
            return len(set(query.lower().split()) & set(text.split()))
        return [sorted(texts, key=lambda text: shared(query, text))[-3:]
                for query, texts in zip(queries, documents)]

    @staticmethod
    def _load_model():
        chance = random.Random(2)       # weights, to be read before anything is said
        return {word: chance.choices(WORDS, k=800) for word in WORDS}

    def _generate_responses_batch(self, queries, documents):
        model, answers = self._load_model(), []
        for query, texts in zip(queries, documents):
            chance, word, said = random.Random(query), texts[0].split()[0], []
            for _ in range(128):
                said.append(word)
                word = chance.choice(model[word])
            answers.append(" ".join(said))
        return answers

    def _analyze_sentiment_batch(self, answers):
        def feeling(text):
            words = text.split()
            lean = sum(w in GOOD for w in words) - sum(w in BAD for w in words)
            return SENTIMENTS[max(0, min(4, 2 + lean // 4))]
        return [feeling(text) for text in answers]

    def _filter_response_safety_batch(self, answers):
        return ["true" if TOXIC & set(text.split()) else "false" for text in answers]


# --- batches -------------------------------------------------------------------

class Batcher:
    """One thread works; what comes meanwhile waits, and is taken together."""
    def __init__(self, pipeline, most, wait):
        self.pipeline, self.most, self.wait = pipeline, most, wait
        self.waiting = queue.SimpleQueue()
        threading.Thread(target=self.work, daemon=True).start()

    def ask(self, query):
        answer = concurrent.futures.Future()
        self.waiting.put((query, answer))
        return answer

    def take(self):
        batch = [self.waiting.get()]
        try:
            while len(batch) < self.most:
                batch.append(self.waiting.get(timeout=self.wait))
        except queue.Empty:
            pass
        return batch

    def work(self):
        while True:
            batch = self.take()
            try:
                results = self.pipeline.process_batch([query for query, _ in batch])
                for (_, answer), result in zip(batch, results):
                    answer.set_result(result)
            except Exception as e:      # the next batch may be better
                for _, answer in batch:
                    answer.set_exception(e)


# --- nodes ---------------------------------------------------------------------

class Node:
    def __init__(self):
        self.total, self.number = setting("TOTAL_NODES", 1), setting("NODE_NUMBER", 0)
        self.places = [setting(f"NODE_{i}_IP", "localhost:8000") for i in range(self.total)]
        self.timeout = setting("QUERY_TIMEOUT", 300.0)
        self.batcher = Batcher(Pipeline(setting("DOCUMENTS", 1500)),
                               setting("MAX_BATCH_SIZE", 4), setting("BATCH_WAIT", 0.01))
        self.turns = itertools.cycle(range(self.total))

    def here(self, ask):
        text, sentiment, toxic = self.batcher.ask(ask["query"]).result(self.timeout)
        return 200, {"request_id": ask["request_id"], "generated_response": text,
                     "sentiment": sentiment, "is_toxic": toxic}

    def there(self, number, ask):
        to = http.client.HTTPConnection(self.places[number], timeout=self.timeout)
        try:
            to.request("POST", "/query", json.dumps(ask),
                       {"Content-Type": "application/json", "X-Pipeline-Node": self.number})
            answer = to.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            to.close()

    def query(self, ask, forwarded):
        if not isinstance(ask, dict) or not {"request_id", "query"} <= ask.keys():
            return 400, {"error": "request_id and query are needed"}
        try:
            number = self.number if forwarded or self.number else next(self.turns)
            return self.here(ask) if number == self.number else self.there(number, ask)
        except TimeoutError:
            return 504, {"error": "Request timeout"}
        except Exception as e:
            return 500, {"error": str(e)}

    def health(self):
        return 200, {"status": "healthy", "node": self.number, "total_nodes": self.total}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1           # head and body leave together

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/health":
            self.answer(*self.server.node.health())
        else:
            self.answer(404, {"error": "no such page"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            ask = json.loads(body)
        except ValueError:
            ask = None
        if self.path == "/query":
            self.answer(*self.server.node.query(ask, "X-Pipeline-Node" in self.headers))
        else:
            self.answer(404, {"error": "no such page"})

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


def main():
    node = Node()
    host, port = node.places[node.number].rsplit(":", 1)
    server = Server((host, int(port)), Handler)
    server.node = node
    print(f"node {node.number} of {node.total} listens on {host}:{port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
