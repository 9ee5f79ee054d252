# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folds batch norms into the convolutions before them, in an exported program.

norm(conv(x, w)) is conv(x, w * s) + (beta + (bias - mean) * s), where s is
gamma / sqrt(variance + eps): what is left to compute is one addition for each
element. Sums are rounded elsewhere, by some units in the last place."""

import operator

import torch

aten = torch.ops.aten
CONVOLUTIONS = (aten.conv1d.default, aten.conv2d.default, aten.conv3d.default,
                aten.convolution.default)
# (input, weight, bias, mean, variance, ...) and the place of eps.
NORMS = {aten._native_batch_norm_legit_no_training.default: 6,
         aten.batch_norm.default: 7}


def _target(node):
    """PyTorch's operator; ExecuTorch's edge dialect has its own around it."""
    target = getattr(node, "target", None)
    if isinstance(target, torch._ops.OpOverload):
        return target
    return getattr(target, "_op", target)


class _Weights:
    """The parameters and buffers of a program, by their placeholders."""

    def __init__(self, program):
        signature = program.graph_signature
        self.state = program.state_dict
        self.names = {**signature.inputs_to_parameters,
                      **signature.inputs_to_buffers}
        self.written = set(signature.buffers_to_mutate.values())

    def own(self, node):
        """The tensor of a placeholder that nobody else uses, or None."""
        name = self.names.get(getattr(node, "name", None))
        if name is None or name in self.written or len(node.users) != 1:
            return None
        return self.state.get(name)

    def put(self, node, value):
        name = self.names[node.name]
        if isinstance(self.state[name], torch.nn.Parameter):
            value = torch.nn.Parameter(value, requires_grad=False)
        self.state[name] = value
        node.meta["val"] = node.meta["val"].new_empty(value.shape)


def _find_convolution(norm):
    """The convolution whose only user norm is, or None."""
    conv = norm.args[0]
    if _target(conv) not in CONVOLUTIONS or len(conv.users) != 1:
        return None
    if (_target(conv) is aten.convolution.default
            and conv.args[6]):  # transposed: channels lie otherwise
        return None
    return conv


def _fold(weights, norm):
    conv = _find_convolution(norm)
    if (conv is None or (_target(norm) is aten.batch_norm.default
                         and norm.args[5])):
        return False
    nodes = [conv.args[1], norm.args[3], norm.args[4]]
    bias = conv.args[2] if len(conv.args) > 2 else None
    nodes += [node for node in (bias, norm.args[1], norm.args[2])
              if node is not None]
    values = {node: weights.own(node) for node in nodes}
    if (any(value is None for value in values.values())
            or len({value.dtype for value in values.values()}) != 1):
        return False
    conv_weight, mean, variance = (values[node].double() for node in nodes[:3])
    scale = (variance + norm.args[NORMS[_target(norm)]]).rsqrt()
    if norm.args[1] is not None:
        scale = scale * values[norm.args[1]].double()
    start = values[bias].double() if bias is not None else 0
    added = (start - mean) * scale
    if norm.args[2] is not None:
        added = added + values[norm.args[2]].double()
    kind = values[nodes[0]].dtype
    shape = [-1] + [1] * (conv_weight.dim() - 1)
    weights.put(nodes[0], (conv_weight * scale.reshape(shape)).to(kind))
    weights.put(nodes[1], added.to(kind))
    rest = conv.args[3:] if len(conv.args) > 3 else ()
    conv.args = (*conv.args[:2], nodes[1], *rest)
    return True


def _replace(graph, norm):
    """What used norm's result uses the convolution's."""
    if _target(norm) is aten.batch_norm.default:
        norm.replace_all_uses_with(norm.args[0])
    else:
        for user in list(norm.users):
            assert user.target is operator.getitem and user.args[1] == 0
            user.replace_all_uses_with(norm.args[0])
            graph.erase_node(user)
    graph.erase_node(norm)


def _gives_the_first_alone(norm):
    return (_target(norm) is aten.batch_norm.default
            or all(user.target is operator.getitem and user.args[1] == 0
                   for user in norm.users))


def fold_batch_norms(program):
    """Folds all that can be, in place; returns their number."""
    graph = program.graph_module.graph
    weights = _Weights(program)
    count = 0
    for norm in list(graph.nodes):
        if (_target(norm) in NORMS and _gives_the_first_alone(norm)
                and _fold(weights, norm)):
            _replace(graph, norm)
            count += 1
    program.graph_module.recompile()
    return count
