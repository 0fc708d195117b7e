import type { MantineColorsTuple } from '@mantine/core'

/**
 * Every decision about colour, type, space, radius and elevation. The theme of the component library is made from it
 * (theme.ts), and style sheets use it as custom properties: `page` of a colour scheme is `--waybill-page`.
 */

/** The accent, used for what can be acted on. Shades 6 and 7 have enough contrast for white text (WCAG 2.2, 1.4.3). */
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

/** Neutral colours have a trace of the accent, so that both look like one ink. */
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

/** Text, quiet text, lines and surfaces of the dark scheme: the higher a surface, the lighter it is. */
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

/** Surfaces from the lowest to the highest, lines, text and shadows. */
interface Scheme {
  /** Behind everything: the page, its header and its navigation. */
  page: string
  /** Cards. */
  surface: string
  /** Menus, dialogs and drawers. */
  overlay: string
  /** Heads of tables and other parts that lie deeper than their card. */
  inset: string
  /** The current page in the navigation. */
  selected: string
  line: string
  ink: string
  quiet: string
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
  /** What is empty in charts. */
  track: string
  /** Changes to the better and to the worse. */
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

/** Shadows are hardly visible on dark surfaces, so what floats is lighter and has a bright edge. */
const darkScheme: Scheme = {
  page: dark[8],
  surface: dark[7],
  overlay: '#212a27',
  inset: '#131917',
  selected: '#212a27',
  line: '#262f2c',
  ink: dark[0],
  quiet: dark[2],
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

/** The colour of a status, as the tint of its badge and the text on it. */
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

/** How much of a tint lies on the surface. */
export const tintOpacity = {
  light: { rest: 0.12, hover: 0.2 },
  dark: { rest: 0.16, hover: 0.24 },
}

export const type = {
  sans: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  mono: 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  /** Of headings and figures. */
  strong: '600',
  /** Of what can be selected: buttons and tabs. */
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

/** Heights and widths that several places share. */
export const measures = {
  /** Buttons and fields, so that they stand in line. */
  control: '2.125rem',
  /** A row of a log. */
  row: '2.25rem',
  /** The widest text that is comfortable to read. */
  prose: '42rem',
  /** Content is centred; on wide screens there is more of it. */
  content: '70rem',
  contentWide: '84rem',
  contentWidest: '96rem',
}
