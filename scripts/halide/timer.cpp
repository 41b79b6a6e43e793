// Times pipelines that Halide compiled: `timer`; or writes what they read and compute: `timer FOLDER`.
// SMALLER divides sizes; images are SMOOTH, or of random elements. variants.h names the functions: scripts/compare_halide.py writes it.

#include "HalideBuffer.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "variants.h"

using Halide::Runtime::Buffer;

extern "C" __attribute__((weak)) int halide_cuda_acquire_context(void *, void **, bool);

namespace {

const int CALLS = 10, BATCHES = 15;
const char *folder = nullptr;

template<typename T>
Buffer<T> filled(std::vector<int> sizes, double scale) {
    Buffer<T> made(sizes);
    const bool smooth = getenv("SMOOTH");
    uint32_t state = 1;
    for (T *p = made.begin(); p != made.end(); p++) {
        state = smooth ? state + (1u << 21) : state * 1664525u + 1013904223u;
        *p = (T)((state >> 8) * (scale / (1 << 24)));
    }
    made.set_host_dirty();
    return made;
}

template<typename T>
void write(const std::string &name, const Buffer<T> &of) {
    std::ofstream(std::string(folder) + "/" + name, std::ios::binary)
        .write((const char *)of.begin(), of.size_in_bytes());
}

/* Times of events around several calls in a row, so that the device never waits for the host. */
class Events {
public:
    Events() : library(dlopen("libcuda.so.1", RTLD_NOW)) {
        void *context = nullptr;
        if (!library || !halide_cuda_acquire_context || halide_cuda_acquire_context(nullptr, &context, true)) {
            fprintf(stderr, "no CUDA device\n");
            exit(1);
        }
        call<int (*)(void *)>("cuCtxPushCurrent_v2")(context);
        for (void *&event : events) {
            call<int (*)(void **, unsigned)>("cuEventCreate")(&event, 0);
        }
    }

    void record(int which) {
        call<int (*)(void *, void *)>("cuEventRecord")(events[which], nullptr);
    }

    float microseconds() {
        float ms = 0;
        call<int (*)(void *)>("cuEventSynchronize")(events[1]);
        call<int (*)(float *, void *, void *)>("cuEventElapsedTime")(&ms, events[0], events[1]);
        return ms * 1000;
    }

private:
    void *library, *events[2];

    template<typename F>
    F call(const char *name) {
        return (F)dlsym(library, name);
    }
};

template<typename T>
void run(const std::string &name, Buffer<T> &out, const std::function<int()> &once) {
    if (once()) {
        printf("%-40s failed\n", name.c_str());
        return;
    }
    if (folder) {
        out.copy_to_host();
        write(name, out);
        return;
    }
    static Events events;
    std::vector<float> times;
    for (int batch = -2; batch < BATCHES; batch++) {
        out.device_sync();
        events.record(0);
        for (int i = 0; i < CALLS; i++) {
            once();
        }
        events.record(1);
        float each = events.microseconds() / CALLS;
        if (batch >= 0) {
            times.push_back(each);
        }
    }
    std::sort(times.begin(), times.end());
    printf("%-40s %8.1f us (median %.1f)\n", name.c_str(), times[0], times[times.size() / 2]);
    fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
    folder = argc > 1 ? argv[1] : nullptr;
    const char *smaller = getenv("SMALLER");
    int by = smaller ? atoi(smaller) : 1;
    halide_set_error_handler([](void *, const char *text) { printf("%s\n", text); });
    halide_reuse_device_allocations(nullptr, true);
    {
        int w = 4096 / by, h = 4096 / by;
        auto in = filled<float>({w + 2, h + 2, 3}, 1);
        Buffer<float> out(w, h, 3);
        if (folder) write("blur3.in", in);
        for (auto &[name, f] : BLUR3) run(name, out, [&] { return f(in, out); });
    }
    {
        int w = 4256 / by, h = 2832 / by;
        auto in = filled<float>({w + 4, h + 4, 3}, 1);
        Buffer<float> out(w, h, 3);
        if (folder) write("unsharp_mask.in", in);
        for (auto &[name, f] : UNSHARP_MASK) {
            run(name, out, [&] { return f(0.1f, 0.7f, in, out); });
        }
        auto gray = filled<float>({w, h}, 1);
        Buffer<float> corners(w - 6, h - 6);
        corners.set_min(3, 3);
        if (folder) write("harris.in", gray);
        for (auto &[name, f] : HARRIS) run(name, corners, [&] { return f(gray, corners); });
    }
    {
        int w = 2560 / by, h = 1920 / by;
        auto in = filled<uint16_t>({w + 32, h + 48}, 1023);
        float cold[] = {1.6697f, -0.2693f, -0.4004f, -42.4346f, -0.3576f, 1.0615f,
                        1.5949f, -37.1158f, -0.2175f, -1.8751f, 6.9640f, -26.6970f};
        float warm[] = {2.2997f, -0.4478f, 0.1706f, -39.0923f, -0.3826f, 1.5906f,
                        -0.2080f, -25.4311f, -0.0888f, -0.7344f, 2.2832f, -20.0826f};
        Buffer<float> m3200(cold, 4, 3), m7000(warm, 4, 3);
        m3200.set_host_dirty();
        m7000.set_host_dirty();
        Buffer<uint8_t> out(w, h, 3);
        for (auto &[name, f] : CAMERA_PIPE) {
            run(name, out, [&] {
                return f(in, m3200, m7000, 3700.f, 2.f, 50.f, 1.f, 25, 1023, out);
            });
        }
    }
    {
        int w = 3840 / by, h = 2160 / by;
        auto a = filled<float>({w, h, 3}, 1), b = filled<float>({w, h, 3}, 0.5);
        auto mask = filled<float>({w, h, 1}, 1);
        Buffer<float> out(w, h, 3);
        if (folder) write("pyramid_blend.a", a), write("pyramid_blend.b", b), write("pyramid_blend.mask", mask);
        for (auto &[name, f] : PYRAMID_BLEND) run(name, out, [&] { return f(a, b, mask, out); });
    }
    {
        int w = 2560 / by, h = 1536 / by;
        auto in = filled<float>({w, h, 4}, 1);
        Buffer<float> out(w, h, 3);
        for (auto &[name, f] : INTERPOLATE) run(name, out, [&] { return f(in, out); });
        auto gray = filled<float>({w, h}, 1);
        Buffer<float> smooth(w, h);
        for (auto &[name, f] : BILATERAL_GRID) {
            run(name, smooth, [&] { return f(gray, 0.1f, smooth); });
        }
    }
    return 0;
}
