import { t } from '@lingui/core/macro'
import { Center, Menu, NativeSelect } from '@mantine/core'
import { IconCheck, IconLanguage } from '@tabler/icons-react'
import { notifyLoadFailure } from '../ui/lazy-part.tsx'
import { chooseLanguage, isLanguage, languages, useLanguage } from './language.ts'

const choices = Object.entries(languages).map(([value, label]) => ({ value, label }))

function choose(value: string): void {
  if (isLanguage(value)) chooseLanguage(value).catch(notifyLoadFailure)
}

/** The languages in the user menu. */
export function LanguageItems() {
  const current = useLanguage()
  return (
    <>
      <Menu.Label>{t`Language`}</Menu.Label>
      {choices.map(({ value, label }) => (
        <Menu.Item
          key={value}
          lang={value}
          leftSection={<IconLanguage size={16} />}
          rightSection={value === current ? <IconCheck size={14} aria-label={t`Selected`} /> : null}
          onClick={() => choose(value)}
        >
          {label}
        </Menu.Item>
      ))}
    </>
  )
}

/** The languages on pages without a session. */
export function LanguageSelect() {
  return (
    <Center mt="md">
      <NativeSelect
        size="xs"
        variant="unstyled"
        aria-label={t`Language`}
        leftSection={<IconLanguage size={16} />}
        data={choices}
        value={useLanguage()}
        onChange={({ currentTarget: { value } }) => choose(value)}
      />
    </Center>
  )
}
