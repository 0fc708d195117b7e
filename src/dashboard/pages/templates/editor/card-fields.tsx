import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Group, Paper, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import {
  type TemplateCardDefinition,
  type TemplateDefinition,
  templateLimits,
} from '../../../../../contracts/templates/definition.ts'
import { ButtonList } from './button-fields.tsx'
import { newButton, newCard, withProductButton } from './draft.ts'
import { BodyFields, countOf, type ErrorOf, HeaderFields } from './fields.tsx'
import { Button } from '../../../ui/button.tsx'

interface CardListProps {
  value: TemplateCardDefinition[]
  onChange: (value: TemplateCardDefinition[]) => void
  errorOf: ErrorOf
}

/** The cards of a carousel. All cards have the same parts. */
export function CardList({ value, onChange, errorOf }: CardListProps) {
  const problem = errorOf('cards', value)
  return (
    <Stack gap="sm">
      {value.map((card, index) => (
        <Paper key={index} withBorder p="sm">
          <Group justify="space-between" mb="xs">
            <Text size="sm" fw={600}>
              {t`Card ${index + 1}`}
            </Text>
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={t`Remove card ${index + 1}`}
              onClick={() => onChange(value.toSpliced(index, 1))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
          <Stack gap="sm">
            <HeaderFields
              kinds={['IMAGE', 'VIDEO', 'PRODUCT']}
              value={card.header}
              path={`cards.${index}.header`}
              errorOf={errorOf}
              onChange={(header) => onChange(value.with(index, withCardHeader(card, header ?? card.header)))}
            />
            {card.header.format !== 'PRODUCT' && (
              <>
                <BodyFields
                  label={t`Card text`}
                  limit={templateLimits.cardBodyCharacters}
                  value={card.body}
                  path={`cards.${index}.body`}
                  errorOf={errorOf}
                  onChange={(body) => onChange(value.with(index, { ...card, ...(body && { body }) }))}
                />
                <ButtonList
                  types={['QUICK_REPLY', 'URL', 'PHONE_NUMBER']}
                  max={templateLimits.cardButtons}
                  value={card.buttons ?? []}
                  path={`cards.${index}.buttons`}
                  errorOf={errorOf}
                  onChange={(buttons) => onChange(value.with(index, { ...card, buttons }))}
                />
              </>
            )}
          </Stack>
        </Paper>
      ))}
      {problem !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      {value.length < templateLimits.cards && (
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          icon={IconPlus}
          onClick={() => onChange([...value, newCard()])}
        >
          <Trans>Add card</Trans>
        </Button>
      )}
    </Stack>
  )
}

/** A product card has no body; other cards start with an empty one. */
function withCardHeader(
  card: TemplateCardDefinition,
  header: TemplateCardDefinition['header'],
): TemplateCardDefinition {
  const next = withProductButton({ ...card, header }, card.header)
  if (next.buttons === card.buttons) return next
  const { body: _, ...rest } = next
  return header.format === 'PRODUCT' ? rest : { ...rest, body: { text: '' }, buttons: [newButton('QUICK_REPLY')] }
}

interface OfferFieldsProps {
  value: NonNullable<TemplateDefinition['limitedTimeOffer']>
  onChange: (value: NonNullable<TemplateDefinition['limitedTimeOffer']>) => void
  errorOf: ErrorOf
}

export function OfferFields({ value, onChange, errorOf }: OfferFieldsProps) {
  return (
    <Stack gap="sm">
      <TextInput
        label={t`Offer`}
        description={countOf(value.text, templateLimits.offerCharacters)}
        value={value.text}
        error={errorOf('limitedTimeOffer.text', value.text) ?? errorOf('limitedTimeOffer', value.text)}
        onChange={({ currentTarget }) => onChange({ ...value, text: currentTarget.value })}
      />
      <Switch
        label={t`Show a countdown (each message sets the end time)`}
        checked={value.expires ?? false}
        onChange={({ currentTarget }) => onChange({ ...value, expires: currentTarget.checked })}
      />
    </Stack>
  )
}
