import {
  Anchor,
  alpha,
  createTheme,
  DEFAULT_THEME,
  Menu,
  Modal,
  Notification,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

/** The accent colour. Shades 6 and 7 have enough contrast for white text (WCAG 2.2, 1.4.3). */
const waybill: MantineColorsTuple = [
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

export const theme = createTheme({
  primaryColor: 'waybill',
  primaryShade: { light: 7, dark: 6 },
  colors: { waybill },
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  components: {
    // Links in text must not be marked by colour alone (WCAG 2.2, 1.4.1).
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    // The focus placeholder is not an allowed child of a menu (ARIA 1.2).
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 650 } },
    }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      // Mantine's own description colour has too little contrast.
      styles: { description: { color: 'var(--mantine-color-text)' } },
    }),
  },
})

/** Tint and text colours of badges and alerts, with sufficient contrast. */
const tints = {
  waybill: { tint: '#38a380', onLight: waybill[9], onDark: waybill[2] },
  red: tintOf('red'),
  yellow: { ...tintOf('yellow'), onLight: '#7a4a00' },
  gray: tintOf('gray'),
  blue: tintOf('blue'),
}

function tintOf(color: 'red' | 'yellow' | 'gray' | 'blue') {
  const shades = DEFAULT_THEME.colors[color]
  return { tint: shades[5], onLight: shades[9], onDark: shades[2] }
}

function tintVariables(scheme: 'light' | 'dark'): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tints).flatMap(([color, { tint, onLight, onDark }]) => [
      [`--mantine-color-${color}-light`, alpha(tint, scheme === 'light' ? 0.13 : 0.16)],
      [`--mantine-color-${color}-light-hover`, alpha(tint, scheme === 'light' ? 0.2 : 0.24)],
      [`--mantine-color-${color}-light-color`, scheme === 'light' ? onLight : onDark],
    ]),
  )
}

/** Replaces Mantine colours that have too little contrast. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...tintVariables('light'),
    '--mantine-color-dimmed': '#5b636b',
    '--mantine-color-placeholder': '#6c747c',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-anchor': '#0c6b50',
    '--waybill-page': '#f8f9fa',
  },
  dark: {
    ...tintVariables('dark'),
    '--mantine-color-dimmed': '#a6a7ab',
    '--mantine-color-placeholder': '#909296',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-anchor': '#7ac7ac',
    '--waybill-page': '#1b1c1e',
  },
})
