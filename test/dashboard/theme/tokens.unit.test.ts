import { expect, test } from 'vitest'
import { schemes, tintOpacity, tints } from '../../../src/dashboard/theme/tokens.ts'

type Rgb = [number, number, number]

function parse(hex: string): Rgb {
  return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16)) as Rgb
}

function blend(above: Rgb, below: Rgb, opacity: number): Rgb {
  return above.map((value, channel) => value * opacity + (below[channel] ?? 0) * (1 - opacity)) as Rgb
}

/** WCAG 2.2, relative luminance. */
function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

const schemeNames = ['light', 'dark'] as const
const surfaces = ['page', 'surface', 'overlay', 'inset', 'selected'] as const
const texts = ['ink', 'quiet', 'link', 'error'] as const

test.each(schemeNames.flatMap((name) => surfaces.map((surface) => ({ name, surface }))))(
  'text has enough contrast on $surface in $name',
  ({ name, surface }) => {
    const below = parse(schemes[name][surface])
    const ratios = Object.fromEntries(texts.map((text) => [text, contrast(parse(schemes[name][text]), below)]))
    expect(Object.entries(ratios).filter(([, ratio]) => ratio < 4.5)).toEqual([])
  },
)

test.each(
  schemeNames.flatMap((name) => Object.keys(tints).map((tint) => ({ name, tint: tint as keyof typeof tints }))),
)('a badge in $tint has enough contrast in $name', ({ name, tint: tintName }) => {
  const { tint, onLight, onDark } = tints[tintName]
  const text = parse(name === 'light' ? onLight : onDark)
  const ratios = surfaces.flatMap((surface) =>
    Object.values(tintOpacity[name]).map((opacity) =>
      contrast(text, blend(parse(tint), parse(schemes[name][surface]), opacity)),
    ),
  )
  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5)
})

/** Bars and lines of charts (WCAG 2.2, 1.4.11). Their legend and the table name the light one as well. */
test.each(schemeNames)('the colours of message outcomes contrast with their card in %s', (name) => {
  const card = parse(schemes[name].surface)
  const outcomes = ['delivered', 'read', 'refused', 'time'] as const
  expect(outcomes.filter((outcome) => contrast(parse(schemes[name][outcome]), card) < 3)).toEqual([])
})

/** WCAG 2.2, 1.4.11. */
test.each(schemeNames)('switches that are off contrast with the surfaces below them in %s', (name) => {
  const off = parse(schemes[name].unchecked)
  const below = ['surface', 'overlay'] as const
  expect(below.filter((surface) => contrast(off, parse(schemes[name][surface])) < 3)).toEqual([])
})

test('in the dark, a higher surface is lighter', () => {
  const { page, surface, overlay } = schemes.dark
  const [lowest = 0, middle = 0, highest = 0] = [page, surface, overlay].map((color) => luminance(parse(color)))
  expect(lowest).toBeLessThan(middle)
  expect(middle).toBeLessThan(highest)
})
