import { PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core'

/** A password, or another secret that is typed in. Mantine marks its other fields as invalid, but not this one. */
export function PasswordField(props: PasswordInputProps) {
  return (
    <PasswordInput
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide', tabIndex: 0 }}
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  )
}

/** For the six digits of an authenticator app: phones show their digits, and password managers fill it in. */
export function CodeField(props: TextInputProps) {
  return (
    <TextInput
      autoComplete="one-time-code"
      inputMode="numeric"
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', letterSpacing: '0.1em' } }}
      {...props}
    />
  )
}

/** Apps show a gap in the middle, and some copy it. */
export function readCode(typed: string): string {
  return typed.replaceAll(/\s/g, '')
}

export function checkCode(typed: string): string | null {
  return /^\d{6}$/.test(readCode(typed)) ? null : 'Enter the six-digit code from the app.'
}

/** As a `ref`: whatever appears here is what comes next. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}
