import type { MantineColorsTuple } from '@mantine/core'

/**
 * The design tokens for colour, typography, spacing, radius and elevation. theme.ts creates Mantine's theme from them, and
 * style sheets use them as custom properties: `page` of a colour scheme is `--waybill-page`.
 */

/** The accent of interactive elements. Shades 6 and 7 have enough contrast for white text (WCAG 2.2, 1.4.3). */
const green: MantineColorsTuple = [
  '#ecf7f3',
  '#d5ece3',
  '#a9dac8',
  '#7ac7ac',
  '#54b694',
  '#38a380',
  '#127a5c',
  '#0c6b50',
  '#0a5a44',
  '#074434',
]

/** Neutral colours, tinted with the accent so that both match. */
const gray: MantineColorsTuple = [
  '#f5f7f6',
  '#eef1f0',
  '#e4e9e7',
  '#dae0dd',
  '#c8d0cc',
  '#a1ada8',
  '#7b8782',
  '#56615c',
  '#37413d',
  '#1b2421',
]

/** Text, secondary text, lines and surfaces of the dark scheme. Higher surfaces are lighter. */
const dark: MantineColorsTuple = [
  '#e1e7e4',
  '#c3ccc9',
  '#a3aeaa',
  '#8b9893',
  '#3a4541',
  '#28312f',
  '#1e2624',
  '#161d1b',
  '#0e1312',
  '#090d0c',
]

export const palette = { waybill: green, gray, dark }

/** Surfaces from lowest to highest, lines, text and shadows. */
interface Scheme {
  /** The page background, header and navigation. */
  page: string
  /** Cards. */
  surface: string
  /** Menus, dialogs and drawers. */
  overlay: string
  /** Table headers and other recessed parts of a card. */
  inset: string
  /** The current page in the navigation. */
  selected: string
  line: string
  ink: string
  quiet: string
  /** Switches, radio buttons and checkboxes that are off. */
  unchecked: string
  placeholder: string
  error: string
  link: string
  /** Focus rings, and marks of the current row. */
  focus: string
  shadowLow: string
  shadowHigh: string
  /** Messages by their last stage, distinguishable for colour-blind people (after Okabe and Ito) and by lightness. */
  inTransit: string
  delivered: string
  read: string
  undelivered: string
  refused: string
  /** Durations in charts. */
  time: string
  /** Empty parts of charts. */
  track: string
  /** Improvements and deteriorations. */
  better: string
  worse: string
}

const light: Scheme = {
  page: gray[0],
  surface: '#ffffff',
  overlay: '#ffffff',
  inset: '#fafbfa',
  selected: '#e6ebe9',
  line: gray[2],
  ink: '#16201c',
  quiet: gray[7],
  unchecked: gray[6],
  placeholder: '#68736e',
  error: '#c2261f',
  link: green[7],
  focus: green[7],
  shadowLow: '0 1px 2px rgb(22 32 28 / 0.06)',
  shadowHigh: '0 2px 6px rgb(22 32 28 / 0.08), 0 16px 40px rgb(22 32 28 / 0.14)',
  inTransit: '#b9c3be',
  delivered: '#2f9e7a',
  read: '#14508c',
  undelivered: '#f08c3a',
  refused: '#a61e1e',
  time: '#5f7a94',
  track: gray[1],
  better: green[8],
  worse: '#b3241d',
}

/** Shadows are hardly visible on dark surfaces, so floating elements are lighter and have a bright edge. */
const darkScheme: Scheme = {
  page: dark[8],
  surface: dark[7],
  overlay: '#212a27',
  inset: '#131917',
  selected: '#212a27',
  line: '#262f2c',
  ink: dark[0],
  quiet: dark[2],
  unchecked: '#69736f',
  placeholder: dark[3],
  error: '#ff8f87',
  link: green[3],
  focus: green[4],
  shadowLow: '0 1px 2px rgb(0 0 0 / 0.5)',
  shadowHigh: '0 0 0 1px rgb(255 255 255 / 0.09), 0 20px 56px rgb(0 0 0 / 0.7)',
  inTransit: '#69736f',
  delivered: '#54b694',
  read: '#a5d8ff',
  undelivered: '#fd9a4a',
  refused: '#e03131',
  time: '#8fa9c2',
  track: dark[5],
  better: green[3],
  worse: '#ff8f87',
}

export const schemes = { light, dark: darkScheme }

/** The colours of a status badge: its tint and its text. */
interface Tint {
  tint: string
  onLight: string
  onDark: string
}

export const tints = {
  waybill: { tint: green[5], onLight: green[9], onDark: green[2] },
  red: { tint: '#e5484d', onLight: '#96120f', onDark: '#ffc4c0' },
  yellow: { tint: '#e8a317', onLight: '#6f4400', onDark: '#ffe0a3' },
  blue: { tint: '#3b82c4', onLight: '#12487d', onDark: '#bfe0ff' },
  gray: { tint: gray[6], onLight: gray[8], onDark: gray[2] },
} satisfies Record<string, Tint>

/** Opacity of a tint on the surface. */
export const tintOpacity = {
  light: { rest: 0.12, hover: 0.2 },
  dark: { rest: 0.16, hover: 0.24 },
}

export const type = {
  sans: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  mono: 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  /** For headings and figures. */
  strong: '600',
  /** For buttons and tabs. */
  medium: '550',
  sizes: { xs: '0.75rem', sm: '0.875rem', md: '1rem', lg: '1.125rem', xl: '1.25rem' },
  headings: {
    h1: { fontSize: '1.5rem', lineHeight: '1.3' },
    h2: { fontSize: '1rem', lineHeight: '1.4' },
    h3: { fontSize: '0.875rem', lineHeight: '1.4' },
  },
}

export const space = { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.25rem', xl: '2rem' }

export const radius = { xs: '3px', sm: '5px', md: '7px', lg: '10px', xl: '14px' }

/** Shared heights and widths. */
export const measures = {
  /** Height of buttons and fields, so that they align. */
  control: '2.125rem',
  /** Height of a log row. */
  row: '2.25rem',
  /** Maximum width for comfortable reading. */
  prose: '42rem',
  /** Width of the centred content; `contentWide` is for wide screens. */
  content: '70rem',
  contentWide: '84rem',
  contentWidest: '96rem',
}
