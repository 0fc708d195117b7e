import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Alert, Group, Select, Stack, Switch, TextInput } from '@mantine/core'
import { IconInfoCircle, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { translate } from '../../../language/i18n.ts'
import { type AuthenticationDefinition, templateLimits } from '../../../../../contracts/templates/definition.ts'
import { Button } from '../../../ui/button.tsx'
import type { TypedNumber } from '../../../ui/whole-number.ts'
import { WholeNumberField } from '../../../ui/fields.tsx'
import { countOf, type ErrorOf } from './fields.tsx'

const kinds = [
  { value: 'COPY_CODE', label: msg`Copy code: a button copies the code` },
  { value: 'ONE_TAP', label: msg`One-tap: a button fills the code into your Android app` },
  { value: 'ZERO_TAP', label: msg`Zero-tap: your Android app receives the code automatically` },
]

interface CodeFieldsProps {
  value: AuthenticationDefinition
  onChange: (value: AuthenticationDefinition) => void
  errorOf: ErrorOf
}

/** The configurable parts of a one-time code template. */
export function CodeFields({ value, onChange, errorOf }: CodeFieldsProps) {
  const { otpType, apps = [], expirationMinutes, addSecurityRecommendation = false } = value
  const path = 'authentication'
  // Keeps incomplete input, such as `2.` on the way to 2.5.
  const [typedMinutes, setTypedMinutes] = useState<TypedNumber>(expirationMinutes ?? '')
  const choose = (next: string | null) => {
    const { apps: _, autofillText: __, zeroTapTermsAccepted: ___, ...rest } = value
    const chosen = (next ?? 'COPY_CODE') as typeof otpType
    onChange({
      ...rest,
      otpType: chosen,
      ...(chosen !== 'COPY_CODE' && { apps: [{ packageName: '', signatureHash: '' }] }),
    })
  }
  return (
    <Stack gap="sm">
      <Alert color="gray" icon={<IconInfoCircle />}>
        <Trans>WhatsApp provides the text of authentication templates, in the language of the template.</Trans>
      </Alert>
      <Select
        label={t`Code delivery`}
        data={kinds.map(({ value, label }) => ({ value, label: translate(label) }))}
        value={otpType}
        allowDeselect={false}
        onChange={choose}
      />
      <Switch
        label={t`Add a security recommendation`}
        checked={addSecurityRecommendation}
        onChange={({ currentTarget }) => onChange({ ...value, addSecurityRecommendation: currentTarget.checked })}
      />
      <WholeNumberField
        label={t`Code expiration in minutes`}
        description={t`1 to 90. Leave empty to omit the expiration from the message.`}
        min={1}
        max={templateLimits.maxExpirationMinutes}
        value={typedMinutes}
        error={errorOf(`${path}.expirationMinutes`, expirationMinutes)}
        onChange={(next) => {
          const { expirationMinutes: _, ...rest } = value
          setTypedMinutes(next)
          onChange({ ...rest, ...(next !== '' && { expirationMinutes: Number(next) }) })
        }}
      />
      <TextInput
        label={t`Button label`}
        description={t`${countOf(value.text, templateLimits.labelCharacters)}. Leave empty to use WhatsApp’s default label.`}
        value={value.text ?? ''}
        error={errorOf(`${path}.text`, value.text)}
        onChange={({ currentTarget }) => onChange({ ...value, text: currentTarget.value })}
      />
      {otpType !== 'COPY_CODE' && (
        <>
          {apps.map((app, index) => (
            <Group key={index} align="flex-start" gap="xs" wrap="nowrap">
              <TextInput
                flex={2}
                label={t`Android package name`}
                placeholder="com.example.shop"
                value={app.packageName}
                error={errorOf(`${path}.apps.${index}.packageName`, app.packageName)}
                onChange={({ currentTarget }) =>
                  onChange({ ...value, apps: apps.with(index, { ...app, packageName: currentTarget.value }) })
                }
              />
              <TextInput
                flex={1}
                label={t`App signature hash`}
                placeholder="K8a/AINcGX7"
                value={app.signatureHash}
                error={errorOf(`${path}.apps.${index}.signatureHash`, app.signatureHash)}
                onChange={({ currentTarget }) =>
                  onChange({ ...value, apps: apps.with(index, { ...app, signatureHash: currentTarget.value }) })
                }
              />
              <ActionIcon
                mt={28}
                variant="subtle"
                color="red"
                aria-label={t`Remove app ${index + 1}`}
                onClick={() => onChange({ ...value, apps: apps.toSpliced(index, 1) })}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
          ))}
          {apps.length < templateLimits.apps && (
            <Button
              variant="default"
              size="xs"
              w="fit-content"
              icon={IconPlus}
              onClick={() => onChange({ ...value, apps: [...apps, { packageName: '', signatureHash: '' }] })}
            >
              <Trans>Add app</Trans>
            </Button>
          )}
        </>
      )}
      {otpType === 'ZERO_TAP' && (
        <Switch
          label={t`We accept WhatsApp’s terms for zero-tap codes`}
          checked={value.zeroTapTermsAccepted ?? false}
          error={errorOf(`${path}.zeroTapTermsAccepted`)}
          onChange={({ currentTarget }) => onChange({ ...value, zeroTapTermsAccepted: currentTarget.checked })}
        />
      )}
    </Stack>
  )
}
