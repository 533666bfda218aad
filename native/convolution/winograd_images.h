// Images in memory: the lines of tiles of a call, and points of some channels in each of the layouts.
//
// A part of winograd_run.cpp alone: its functions are of one instruction set, and of that file.
#pragma once

#include "convolution/winograd_vectors.h"

namespace tengen::TENGEN_INSTRUCTIONS {
namespace {

// Lines of tiles of one image, of those that are done at once.
struct Segment {
    Index image;
    int line, lines;  // of the image
    int tile;         // the first of those at once
};

// Calls `visit` with each part of the lines of a call that lies in one image.
template <class Visit>
void each_segment(const WinogradTiles& tiles, Visit visit) {
    for (int at = tiles.begin; at < tiles.end;) {
        const int line = at % tiles.down, lines = min(tiles.down - line, tiles.end - at);
        visit(Segment{static_cast<Index>(at / tiles.down), line, lines, (at - tiles.begin) * tiles.across});
        at += lines;
    }
}

// Points of an image, each a vector of channels `step` numbers after the one before.
struct Points {
    const float* first;
    int step;
};

// Where the first point of channel `c` of an image lies, among images of so many channels.
Index place_of(const WinogradTiles& tiles, Index image, int channels, int c) {
    const Index area = static_cast<Index>(tiles.rows) * tiles.columns;
    switch (tiles.layout) {
        case ImageLayout::channels_first:
            return (image * channels + c) * area;
        case ImageLayout::channels_last:
            return image * channels * area + c;
        case ImageLayout::blocks:
            const int blocks = (channels + kColumns - 1) / kColumns;
            return (image * blocks + c / kColumns) * area * kColumns + c % kColumns;
    }
    __builtin_unreachable();
}

// The image of this number among images of so many channels.
const void* image_at(const WinogradTiles& tiles, const void* images, Index number, int channels) {
    const Index bytes = tiles.halves ? 2 : sizeof(float);
    return static_cast<const char*>(images) + place_of(tiles, number, channels, 0) * bytes;
}

// Copies `count` points of `here` channels, at most a vector of them, from planes `area` numbers apart into vectors
// `step` numbers apart; channels that are not there are 0.
void gather_points(const float* from, int area, int here, int count, float* to, int step) {
    int i = 0;
    // The last block of points overlaps the one before.
    for (; here == kLanes && count >= kLanes && i < count; i += kLanes) {
        const int at = min(i, count - kLanes);
        Vec block[kLanes];
        for (int j = 0; j < kLanes; ++j) block[j] = load(from + static_cast<Index>(j) * area + at);
        transpose(block);
        for (int j = 0; j < kLanes; ++j) store(to + static_cast<Index>(at + j) * step, block[j]);
    }
    for (; i < count; ++i)
        for (int j = 0; j < kLanes; ++j)
            to[static_cast<Index>(i) * step + j] = j < here ? from[static_cast<Index>(j) * area + i] : 0;
}

// The reverse. `finish` makes a result, a vector of points or one, of the number at its place in `to`.
template <class Finish>
void scatter_points(const float* from, int step, int here, int count, float* to, int area, Finish finish) {
    int i = 0;
    for (; here == kLanes && count >= kLanes && i < count; i += kLanes) {
        const int at = min(i, count - kLanes);
        Vec block[kLanes];
        for (int j = 0; j < kLanes; ++j) block[j] = load(from + static_cast<Index>(at + j) * step);
        transpose(block);
        for (int j = 0; j < kLanes; ++j) {
            const Index place = static_cast<Index>(j) * area + at;
            store(to + place, finish(block[j], place));
        }
    }
    for (; i < count; ++i) {
        for (int j = 0; j < here; ++j) {
            const Index place = static_cast<Index>(j) * area + i;
            to[place] = finish(from[static_cast<Index>(i) * step + j], place);
        }
    }
}

// `here` channels from `c` on of `count` points of an image, from its point `place` on; channels that are not there
// are 0. They are where they lie already or in `space`.
Points read_points(const WinogradTiles& tiles, const void* image, int channels, int c, int here, int place, int count,
                   float* space) {
    const int area = tiles.rows * tiles.columns;
#if defined(TENGEN_BF16)
    if (tiles.halves) {
        const auto* from = static_cast<const Element*>(image) + static_cast<Index>(place) * channels + c;
        for (int i = 0; i < count; ++i, from += channels) {
            Element some[kLanes] = {};
            if (here < kLanes)
                for (int j = 0; j < here; ++j) some[j] = from[j];
            store(space + i * kLanes, widened(here < kLanes ? some : from));
        }
        return {space, kLanes};
    }
#endif
    const float* from = static_cast<const float*>(image) + place_of(tiles, 0, channels, c);
    switch (tiles.layout) {
        case ImageLayout::blocks:  // channels that are not there have weights of 0
            return {from + static_cast<Index>(place) * kColumns, kColumns};
        case ImageLayout::channels_last:
            from += static_cast<Index>(place) * channels;
            if (here == kLanes) return {from, channels};
            for (int i = 0; i < count; ++i)
                for (int j = 0; j < kLanes; ++j) space[i * kLanes + j] = j < here ? from[i * channels + j] : 0;
            return {space, kLanes};
        case ImageLayout::channels_first:
            gather_points(from + place, area, here, count, space, kLanes);
            return {space, kLanes};
    }
    __builtin_unreachable();
}

}  // namespace
}  // namespace tengen::TENGEN_INSTRUCTIONS
