import { NumberInput, type NumberInputProps } from '@mantine/core'

/** A field for a whole number that keeps the input: the form rejects an invalid number instead of replacing it. */
export function WholeNumberField(props: NumberInputProps) {
  return <NumberInput clampBehavior="none" trimLeadingZeroesOnBlur={false} inputMode="numeric" {...props} />
}
