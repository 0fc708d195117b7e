import { t } from '@lingui/core/macro'
import { Combobox, Group, Modal, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useMemo, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { translate } from '../language/i18n.ts'
import { api } from '../api/client.ts'
import { statusNames } from '../pages/messages/message-status.tsx'
import { describeStatus } from '../pages/templates/template-status.ts'
import { useUser } from '../session/session.ts'
import {
  type DocsEntry,
  findCommands,
  findDocs,
  groupNames,
  groups,
  listCommands,
  toConsoleCommand,
  toMessageCommand,
  toTemplateCommand,
} from './commands.ts'
import styles from './command-palette.module.css'
import { ModalRoot } from '../ui/dialog.tsx'

const maxLength = 255

/** Finds pages, actions, templates and messages of an account. */
export function CommandPalette({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const { commands, isSearching } = useCommands(accountId, text.trim())
  const listId = useId()
  const combobox = useCombobox({ opened: true })
  const { selectFirstOption, updateSelectedOptionIndex } = combobox
  const [selectedId, setSelectedId] = useState<string | null>(null)
  /** Chosen with the arrow keys since the text changed. */
  const chosenId = useRef<string | null>(null)
  // Messages and sections of the documentation arrive later, and may come before the chosen option.
  useEffect(() => {
    if (chosenId.current !== null && document.getElementById(chosenId.current)) updateSelectedOptionIndex()
    else setSelectedId(selectFirstOption())
  }, [commands, selectFirstOption, updateSelectedOptionIndex])
  const choosing = (select: () => string | null) => () => {
    chosenId.current = select()
    setSelectedId(chosenId.current)
    return chosenId.current
  }
  const store = {
    ...combobox,
    selectNextOption: choosing(combobox.selectNextOption),
    selectPreviousOption: choosing(combobox.selectPreviousOption),
  }
  const open = (to: string) => {
    onClose()
    if (to.startsWith('/docs')) window.open(to, '_blank', 'noopener')
    else void navigate(to)
  }
  return (
    <ModalRoot opened onClose={onClose} padding={0} size={560} yOffset="12vh">
      <Modal.Overlay />
      <Modal.Content aria-label={t`Search`}>
        <Combobox store={store} onOptionSubmit={open}>
          {/* By itself, Mantine sets them only when it renders again, and names an option only after an arrow key. */}
          <Combobox.EventsTarget aria-expanded aria-controls={listId} aria-activedescendant={selectedId ?? undefined}>
            <TextInput
              data-autofocus
              role="combobox"
              variant="unstyled"
              size="md"
              px="md"
              py={6}
              aria-label={t`Search pages, actions, templates and messages`}
              placeholder={t`Search pages, actions, templates and messages`}
              leftSection={<IconSearch size={18} aria-hidden />}
              value={text}
              maxLength={maxLength}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => {
                chosenId.current = null
                setText(event.currentTarget.value)
              }}
              // The combobox would consume the Escape key to close its dropdown.
              onKeyDown={({ key }) => {
                if (key === 'Escape') onClose()
              }}
            />
          </Combobox.EventsTarget>
          <Combobox.Options
            id={listId}
            mah="min(26rem, 60vh)"
            p={6}
            aria-label={t`Results`}
            style={{ overflowY: 'auto', borderTop: '1px solid var(--waybill-line)' }}
          >
            {groups.map((group) => {
              const ofGroup = commands.filter((command) => command.group === group)
              return (
                ofGroup.length > 0 && (
                  <Combobox.Group key={group} label={translate(groupNames[group])}>
                    {ofGroup.map(({ label, hint, to }) => (
                      <Combobox.Option key={to + label} value={to} px="sm" py={8}>
                        <Group justify="space-between" wrap="nowrap" gap="md">
                          <Text span size="sm" truncate>
                            {label}
                          </Text>
                          {hint !== undefined && (
                            <Text span size="xs" truncate className={styles['hint'] ?? ''}>
                              {hint}
                            </Text>
                          )}
                        </Group>
                      </Combobox.Option>
                    ))}
                  </Combobox.Group>
                )
              )
            })}
            {commands.length === 0 && (
              <Combobox.Empty>
                {isSearching ? t`Searching…` : t`Nothing found. Try a number or a template.`}
              </Combobox.Empty>
            )}
          </Combobox.Options>
        </Combobox>
      </Modal.Content>
    </ModalRoot>
  )
}

/** Without the texts, which are not searched here. */
function readDocsIndex(index: unknown): DocsEntry[] {
  if (!Array.isArray(index)) return []
  return index.map(({ url, page, title, keywords = '' }: DocsEntry) => ({ url, page, title, keywords }))
}

const pauseMilliseconds = 250
/** Shorter searches match too many messages. */
const minSearchLength = 3
const maxMessages = 5
const maxTemplates = 100

function useCommands(accountId: string, text: string) {
  const { accounts, operator } = useUser()
  const [search] = useDebouncedValue(text, pauseMilliseconds)
  const isSearch = search.length >= minSearchLength
  const templates = useQuery({
    queryKey: ['templates', accountId, 'palette'],
    queryFn: async () => (await api.template.list.query({ accountId, limit: maxTemplates })).items,
    staleTime: 60_000,
  })
  const messages = useQuery({
    queryKey: ['messages', accountId, 'palette', search],
    queryFn: async ({ signal }) =>
      (await api.message.list.query({ accountId, search, limit: maxMessages }, { signal })).items,
    enabled: isSearch,
    placeholderData: keepPreviousData,
  })
  const docs = useQuery({
    queryKey: ['docs-index'],
    queryFn: async ({ signal }) => readDocsIndex(await (await fetch('/docs/search.json', { signal })).json()),
    enabled: isSearch,
    // It changes with the version of the server.
    staleTime: Infinity,
    retry: false,
  })
  const found = isSearch ? messages.data : undefined
  const sections = isSearch ? docs.data : undefined
  const commands = useMemo(() => {
    const account = accounts.find((one) => one.accountId === accountId)
    if (!account) return []
    const others = accounts.filter((one) => one !== account)
    return [
      ...findCommands(
        [
          ...listCommands(account, others),
          ...(operator === undefined ? [] : [toConsoleCommand()]),
          ...(text === ''
            ? []
            : (templates.data ?? []).map((template) =>
                toTemplateCommand(accountId, template, describeStatus(template.status).label),
              )),
        ],
        text,
      ),
      ...(found ?? []).map((message) =>
        toMessageCommand(accountId, message, { status: translate(statusNames[message.status]), search }),
      ),
      ...findDocs(sections ?? [], search),
    ]
  }, [accounts, operator, accountId, text, templates.data, found, sections, search])
  return { commands, isSearching: text !== search || (isSearch && messages.isFetching) }
}
