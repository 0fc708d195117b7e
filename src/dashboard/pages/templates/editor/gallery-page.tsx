import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Box, Group, Paper, Select, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconPencilPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { i18n } from '../../../language/i18n.ts'
import { sayFact } from '../../../language/facts.ts'
import { galleryFacts } from '../../../../../contracts/facts/gallery.ts'
import { type GalleryLanguage, galleryLanguages } from '../../../../../contracts/templates/gallery-texts.ts'
import { galleryItems, makeGalleryTemplate } from '../../../../../contracts/templates/gallery.ts'
import { useAccount } from '../../../session/session.ts'
import { LinkButton } from '../../../ui/button.tsx'
import { BackLink, PageHeader } from '../../../ui/page.tsx'
import { MessagePreview } from '../message-preview.tsx'
import { describeLanguage } from '../template-list.tsx'
import { inWords } from '../template-status.ts'
import { previewValues, toPreview } from './draft.ts'

/** Gallery templates to start from. */
export function GalleryPage() {
  const { accountId } = useAccount()
  const [search] = useSearchParams()
  const [language, setLanguage] = useState<GalleryLanguage>(galleryLanguages.find((one) => one === i18n.locale) ?? 'en')
  const account = search.get('account')
  const linkTo = (query: Record<string, string>) =>
    `/${accountId}/templates/edit?${new URLSearchParams({ ...(account !== null && { account }), ...query })}`
  return (
    <>
      <BackLink
        to={{
          pathname: `/${accountId}/templates`,
          search: new URLSearchParams(account === null ? {} : { account }).toString(),
        }}
      >
        <Trans>Templates</Trans>
      </BackLink>
      <PageHeader
        title={t`New template`}
        description={t`Adapt a ready-made template, or start from scratch.`}
        actions={
          <LinkButton to={linkTo({})} variant="default" icon={IconPencilPlus}>{t`Start from scratch`}</LinkButton>
        }
      />
      <Select
        label={t`Language`}
        w={280}
        maw="100%"
        mb="lg"
        data={galleryLanguages.map((code) => ({ value: code, label: describeLanguage(code) }))}
        value={language}
        allowDeselect={false}
        onChange={(next) => setLanguage(galleryLanguages.find((one) => one === next) ?? language)}
      />
      <SimpleGrid
        cols={{ base: 1, sm: 2, lg: 3 }}
        spacing="lg"
        component="ul"
        p={0}
        m={0}
        style={{ listStyle: 'none' }}
      >
        {galleryItems.map(({ name, category }) => {
          const title = sayFact(galleryFacts[name].title())
          const template = makeGalleryTemplate(name, language)
          return (
            <Paper key={name} component="li" withBorder p="md">
              <Stack gap="sm" h="100%" justify="space-between">
                <Box>
                  <Title order={2} size="h4">
                    {title}
                  </Title>
                  <Text size="sm" c="dimmed" mb="sm">
                    {inWords(category)}. {sayFact(galleryFacts[name].description())}
                  </Text>
                  <MessagePreview
                    template={{ components: toPreview(template), language }}
                    variables={previewValues(template)}
                    headerText={template.header?.example ?? ''}
                  />
                </Box>
                <Group>
                  <LinkButton to={linkTo({ gallery: name, language })} aria-label={t`Use ${title}`}>
                    <Trans>Use this template</Trans>
                  </LinkButton>
                </Group>
              </Stack>
            </Paper>
          )
        })}
      </SimpleGrid>
    </>
  )
}
