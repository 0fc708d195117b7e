import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core'

/** The one accent. Its shades 6 and 7 carry white text (WCAG 2.2, 1.4.3). */
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
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.3' },
      h2: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
})

/** Where Mantine's own greys and reds are too faint to be read by everybody. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b636b',
    '--mantine-color-placeholder': '#6c747c',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-anchor': '#0c6b50',
    '--waybill-page': '#f8f9fa',
  },
  dark: {
    '--mantine-color-dimmed': '#a6a7ab',
    '--mantine-color-placeholder': '#909296',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-anchor': '#7ac7ac',
    '--waybill-page': '#1b1c1e',
  },
})
