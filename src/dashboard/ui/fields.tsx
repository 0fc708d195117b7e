import { t } from '@lingui/core/macro'
import {
  NumberInput,
  type NumberInputProps,
  PasswordInput,
  type PasswordInputProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { type ComponentProps, Suspense } from 'react'
import { lazyPart } from './lazy-part.tsx'

/** A field for passwords and other secrets. Mantine does not set `aria-invalid` on this one. */
export function PasswordField(props: PasswordInputProps) {
  return (
    <PasswordInput
      visibilityToggleButtonProps={{ 'aria-label': t`Show or hide`, tabIndex: 0 }}
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  )
}

/** A field for six-digit codes, with a numeric keyboard and autofill from password managers. */
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

/** Removes the space that authenticator apps show in the middle of a code. */
export function readCode(typed: string): string {
  return typed.replaceAll(/\s/g, '')
}

export function checkCode(typed: string): string | null {
  return /^\d{6}$/.test(readCode(typed)) ? null : t`Enter the six-digit code from the app.`
}

/** A `ref` that focuses the element when it appears. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}

/** A field for a whole number that keeps the input: the form rejects an invalid number instead of replacing it. */
export function WholeNumberField(props: NumberInputProps) {
  return <NumberInput clampBehavior="none" trimLeadingZeroesOnBlur={false} inputMode="numeric" {...props} />
}

/** Loaded when it is shown, because the list of time zones is large. */
const TimeZoneSelect = lazyPart(async () => (await import('./time-zone-select.tsx')).TimeZoneSelect)

export function TimeZoneField(props: ComponentProps<typeof TimeZoneSelect>) {
  return (
    <Suspense>
      <TimeZoneSelect {...props} />
    </Suspense>
  )
}
