import { NumberInput, type NumberInputProps } from '@mantine/core'

/**
 * A field for a whole number, which keeps what is typed: a number out of range or with decimals is refused by the
 * form, and not replaced by another one.
 */
export function WholeNumberField(props: NumberInputProps) {
  return <NumberInput clampBehavior="none" trimLeadingZeroesOnBlur={false} inputMode="numeric" {...props} />
}
