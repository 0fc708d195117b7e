import { Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Placeholder } from '../../../../contracts/api/template.ts'

interface VariableFieldsProps {
  placeholders: Placeholder[]
  form: UseFormReturnType<{ to: string; variables: Record<string, string> }>
}

export function VariableFields({ placeholders, form }: VariableFieldsProps) {
  if (placeholders.length === 0)
    return (
      <Text size="sm" c="dimmed">
        This template has none: everybody gets the same text.
      </Text>
    )
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        Filled in with the examples that WhatsApp has. The preview follows what you type.
      </Text>
      {placeholders.map(({ key }) => (
        <TextInput
          key={key}
          label={`{{${key}}}`}
          autoComplete="off"
          styles={{ label: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...form.getInputProps(`variables.${key}`)}
        />
      ))}
    </Stack>
  )
}
