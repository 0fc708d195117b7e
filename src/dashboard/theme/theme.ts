import {
  Anchor,
  alpha,
  createTheme,
  type CSSVariablesResolver,
  Menu,
  Modal,
  Notification,
  SegmentedControl,
  Tooltip,
} from '@mantine/core'
import { measures, palette, radius, schemes, space, tintOpacity, tints, type } from './tokens.ts'

export const theme = createTheme({
  primaryColor: 'waybill',
  primaryShade: { light: 7, dark: 6 },
  colors: palette,
  black: schemes.light.ink,
  defaultRadius: 'md',
  radius,
  spacing: space,
  shadows: {
    xs: 'var(--waybill-shadow-low)',
    sm: 'var(--waybill-shadow-low)',
    md: 'var(--waybill-shadow-high)',
    lg: 'var(--waybill-shadow-high)',
    xl: 'var(--waybill-shadow-high)',
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: type.sans,
  fontFamilyMonospace: type.mono,
  fontSizes: type.sizes,
  headings: { fontWeight: type.strong, sizes: type.headings },
  components: {
    // Links in text must not be marked by colour alone (WCAG 2.2, 1.4.1).
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    // The focus placeholder is not an allowed child of a menu (ARIA 1.2).
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false, shadow: 'md' } }),
    Modal: Modal.extend({
      defaultProps: { radius: 'lg' },
      styles: { title: { fontWeight: type.strong } },
    }),
    Notification: Notification.extend({
      // Mantine's own description colour has too little contrast.
      styles: { description: { color: 'var(--mantine-color-text)' } },
    }),
    SegmentedControl: SegmentedControl.extend({
      styles: {
        // On the page, Mantine's own dark background would not be seen.
        root: { backgroundColor: 'light-dark(var(--mantine-color-gray-1), var(--mantine-color-dark-6))' },
        label: { fontWeight: type.medium },
      },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { radius: 'sm' } }),
  },
})

type SchemeName = keyof typeof schemes

function tintVariables(scheme: SchemeName): Record<string, string> {
  const { rest, hover } = tintOpacity[scheme]
  return Object.fromEntries(
    Object.entries(tints).flatMap(([color, { tint, onLight, onDark }]) => [
      [`--mantine-color-${color}-light`, alpha(tint, rest)],
      [`--mantine-color-${color}-light-hover`, alpha(tint, hover)],
      [`--mantine-color-${color}-light-color`, scheme === 'light' ? onLight : onDark],
    ]),
  )
}

/** The tokens of a scheme under their own names and under Mantine's names. */
function schemeVariables(name: SchemeName): Record<string, string> {
  const scheme = schemes[name]
  return {
    ...tintVariables(name),
    ...toVariables(scheme),
    '--mantine-color-body': scheme.surface,
    '--mantine-color-text': scheme.ink,
    '--mantine-color-dimmed': scheme.quiet,
    '--mantine-color-placeholder': scheme.placeholder,
    '--mantine-color-error': scheme.error,
    '--mantine-color-anchor': scheme.link,
  }
}

/** `shadowLow` becomes `--waybill-shadow-low`. */
function toVariables(tokens: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tokens).map(([name, value]) => [
      `--waybill-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      String(value),
    ]),
  )
}

export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: toVariables(measures),
  light: schemeVariables('light'),
  dark: schemeVariables('dark'),
})
