// The pipelines of corpus/pipelines that Halide's apps lack, with schedules for GPUs.

#include "Halide.h"

namespace {

using namespace Halide;

Var x("x"), y("y"), c("c"), xi("xi"), yi("yi"), xo("xo"), yo("yo");

/* Tiles of width x height elements of a plane, `rows` rows a thread; with `shared`, a tile keeps what
   `first` is there, else each thread computes it for itself. */
void tiles(Func out, Func first, int width, int height, int rows, bool shared) {
    out.tile(x, y, xi, yi, width, height).split(yi, yo, yi, rows).unroll(yi);
    out.reorder(yi, xi, yo, x, y, c).gpu_blocks(x, y, c).gpu_threads(xi, yo);
    if (shared) {
        first.compute_at(out, x).split(y, yo, yi, rows).unroll(yi).reorder(yi, x, yo);
        first.gpu_threads(x, yo);
    }
}

class Blur3 : public Generator<Blur3> {
public:
    GeneratorParam<int> width{"width", 64}, height{"height", 32}, rows{"rows", 4};
    GeneratorParam<bool> shared{"shared", true};
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        Func v("v");
        v(x, y, c) = (input(x, y, c) + input(x, y + 1, c) + input(x, y + 2, c)) / 3;
        output(x, y, c) = (v(x, y, c) + v(x + 1, y, c) + v(x + 2, y, c)) / 3;
        tiles(output, v, width, height, rows, shared);
    }
};

class UnsharpMask : public Generator<UnsharpMask> {
public:
    GeneratorParam<int> width{"width", 64}, height{"height", 32}, rows{"rows", 4};
    GeneratorParam<bool> shared{"shared", true};
    Input<float> threshold{"threshold"}, weight{"weight"};
    Input<Buffer<float, 3>> input{"input"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        Func down("down"), blurred("blurred");
        down(x, y, c) = (input(x, y, c) + 4 * input(x, y + 1, c) + 6 * input(x, y + 2, c) +
                         4 * input(x, y + 3, c) + input(x, y + 4, c)) * 0.0625f;
        blurred(x, y, c) = (down(x, y, c) + 4 * down(x + 1, y, c) + 6 * down(x + 2, y, c) +
                            4 * down(x + 3, y, c) + down(x + 4, y, c)) * 0.0625f;
        Expr middle = input(x + 2, y + 2, c);
        Expr sharp = middle * (1 + weight) - blurred(x, y, c) * weight;
        output(x, y, c) = select(abs(middle - blurred(x, y, c)) < threshold, middle, sharp);
        tiles(output, down, width, height, rows, shared);
    }
};

class PyramidBlend : public Generator<PyramidBlend> {
public:
    GeneratorParam<int> width{"width", 64}, height{"height", 16};
    Input<Buffer<float, 3>> a{"a"}, b{"b"}, mask{"mask"};
    Output<Buffer<float, 3>> output{"output"};

    void generate() {
        w[0] = output.width(), h[0] = output.height();
        for (int l = 1; l < 4; l++) {
            w[l] = (w[l - 1] + 1) / 2, h[l] = (h[l - 1] + 1) / 2;
        }
        Func of_a[4] = {a}, of_b[4] = {b}, of_mask[4] = {mask}, sum[4];
        for (int l = 1; l < 4; l++) {
            of_a[l] = halved(of_a[l - 1], l);
            of_b[l] = halved(of_b[l - 1], l);
            of_mask[l] = halved(of_mask[l - 1], l);
        }
        sum[3](x, y, c) = blended(of_a[3](x, y, c), of_b[3](x, y, c), of_mask[3]);
        for (int l = 2; l >= 0; l--) {
            Func ua = doubled_x(of_a[l + 1], l + 1), ub = doubled_x(of_b[l + 1], l + 1);
            Func us = doubled_x(sum[l + 1], l + 1), out = l > 0 ? Func("sum") : Func(output);
            out(x, y, c) = blended(of_a[l](x, y, c) - doubled_y(ua),
                                   of_b[l](x, y, c) - doubled_y(ub), of_mask[l]) +
                           doubled_y(us);
            sum[l] = out;
            out.compute_root().tile(x, y, xi, yi, width, height).tile(xi, yi, xo, yo, xi, yi, 2, 2);
            out.unroll(xi).unroll(yi).gpu_blocks(x, y, c).gpu_threads(xo, yo);
            for (Func f : {ua, ub, us}) {
                f.compute_at(out, x).split(x, xo, xi, 2).unroll(xi).gpu_threads(xo, y);
            }
        }
    }

private:
    Expr w[4], h[4];

    Expr blended(Expr from_a, Expr from_b, Func by) {
        return from_a * by(x, y, 0) + from_b * (1 - by(x, y, 0));
    }

    // Clamped where a level is read, so that the boxes of a tile have one size.
    Func halved(Func f, int l) {
        Func across("across"), both("halved");
        Expr row = clamp(y, 0, h[l - 1] - 1);
        auto at_x = [&](int i) { return f(clamp(2 * x + i, 0, w[l - 1] - 1), row, c); };
        auto at_y = [&](int i) { return across(x, 2 * y + i, c); };
        across(x, y, c) = (at_x(-2) + 4 * at_x(-1) + 6 * at_x(0) + 4 * at_x(1) + at_x(2)) * 0.0625f;
        both(x, y, c) = (at_y(-2) + 4 * at_y(-1) + 6 * at_y(0) + 4 * at_y(1) + at_y(2)) * 0.0625f;
        both.compute_root().tile(x, y, xi, yi, 32, 8).gpu_blocks(x, y, c).gpu_threads(xi, yi);
        across.compute_at(both, x).gpu_threads(x, y);
        return both;
    }

    Func doubled_x(Func f, int l) {
        Func across("doubled");
        Expr row = clamp(y, 0, h[l] - 1);
        auto at = [&](int i) { return f(clamp(x / 2 + i, 0, w[l] - 1), row, c); };
        across(x, y, c) = select(x % 2 == 0, (at(-1) + 6 * at(0) + at(1)) * 0.125f,
                                 (at(0) + at(1)) * 0.5f);
        return across;
    }

    Expr doubled_y(Func f) {
        auto at = [&](int i) { return f(x, y / 2 + i, c); };
        return select(y % 2 == 0, (at(-1) + 6 * at(0) + at(1)) * 0.125f, (at(0) + at(1)) * 0.5f);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Blur3, blur3)
HALIDE_REGISTER_GENERATOR(UnsharpMask, unsharp_mask)
HALIDE_REGISTER_GENERATOR(PyramidBlend, pyramid_blend)
