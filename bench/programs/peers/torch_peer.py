"""The programs in PyTorch: eager, or by torch.compile where TORCH_PEER=compile."""

import os

import torch
import torch.nn.functional as F

from serve import integers, main, uniform

torch.set_num_threads(1)
compiled = os.environ.get("TORCH_PEER") == "compile"


def tensor(a):
    return torch.from_numpy(a)


def parameter(a):
    return torch.nn.Parameter(tensor(a))


def zeros(*shape):
    return torch.nn.Parameter(torch.zeros(*shape))


def ones(*shape):
    return torch.nn.Parameter(torch.ones(*shape))


def train(parameters, loss, decay, *data):
    adam = dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
    flat = [p for q in parameters for p in (q if isinstance(q, list) else [q])]
    optimizer = torch.optim.AdamW(flat, weight_decay=decay, **adam) if decay else torch.optim.Adam(flat, **adam)
    if compiled:
        loss = torch.compile(loss)

    def step(_):
        value = loss(parameters, *data)
        value.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return value.item()

    return step


def mlp(batch):
    def loss(p, x, y):
        w1, b1, w2, b2, w3, b3 = p
        h = torch.relu(x @ w1 + b1)
        h = torch.relu(h @ w2 + b2)
        return F.cross_entropy(h @ w3 + b3, y)

    p = [parameter(uniform(1, 784, 512, scale=0.08)), zeros(512), parameter(uniform(2, 512, 512, scale=0.1)),
         zeros(512), parameter(uniform(3, 512, 10, scale=0.1)), zeros(10)]
    return train(p, loss, 0, tensor(uniform(101, batch, 784)), tensor(integers(102, batch, bound=10)).long())


def cnn(batch):
    """In torch's own layout; the dense layer's rows in the order of the others' programs."""
    def loss(p, x, y):
        k1, b1, k2, b2, w, b = p
        h = F.max_pool2d(torch.relu(F.conv2d(x, k1, b1, padding=1)), 2)
        h = F.max_pool2d(torch.relu(F.conv2d(h, k2, b2, padding=1)), 2)
        return F.cross_entropy(h.flatten(1) @ w + b, y)

    def kernel(a):
        return parameter(a.transpose(3, 2, 0, 1).copy())

    dense = uniform(3, 3136, 10, scale=0.03).reshape(7, 7, 64, 10).transpose(2, 0, 1, 3).reshape(3136, 10).copy()
    p = [kernel(uniform(1, 3, 3, 1, 32, scale=0.5)), zeros(32), kernel(uniform(2, 3, 3, 32, 64, scale=0.1)), zeros(64),
         parameter(dense), zeros(10)]
    return train(p, loss, 0, tensor(uniform(101, batch, 1, 28, 28)), tensor(integers(102, batch, bound=10)).long())


def transformer(batch):
    def heads(x):
        return x.view(-1, 128, 4, 64).transpose(1, 2)

    def loss(p, words, following):
        embedding, positions, *blocks, scale, bias = p
        x = F.embedding(words, embedding) + positions
        for s1, b1, qkv, qkv_b, out, out_b, s2, b2, up, up_b, down, down_b in blocks:
            q, k, v = (F.layer_norm(x, (256,), s1, b1) @ qkv + qkv_b).split(256, -1)
            mixed = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
            x = x + mixed.transpose(1, 2).reshape(x.shape) @ out + out_b
            x = x + F.gelu(F.layer_norm(x, (256,), s2, b2) @ up + up_b) @ down + down_b
        logits = F.layer_norm(x, (256,), scale, bias) @ embedding.T
        return F.cross_entropy(logits.view(-1, 4096), following.reshape(-1))

    def block(seed):
        return [ones(256), zeros(256), parameter(uniform(seed, 256, 768, scale=0.06)), zeros(768),
                parameter(uniform(seed + 1, 256, 256, scale=0.06)), zeros(256), ones(256), zeros(256),
                parameter(uniform(seed + 2, 256, 1024, scale=0.06)), zeros(1024),
                parameter(uniform(seed + 3, 1024, 256, scale=0.03)), zeros(256)]

    p = [parameter(uniform(1, 4096, 256, scale=0.035)), zeros(128, 256), *(block(2 + 4 * i) for i in range(4)),
         ones(256), zeros(256)]
    return train(p, loss, 0.01, tensor(integers(101, batch, 128, bound=4096)).long(),
                 tensor(integers(102, batch, 128, bound=4096)).long())


main(dict(mlp=mlp, cnn=cnn, transformer=transformer))
