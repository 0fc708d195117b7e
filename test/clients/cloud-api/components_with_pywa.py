"""Prints what pywa makes of each kind of component, of messages and of new templates, as JSON.

The templates are those of pywa's own tests (tests/data/templates of david-lev/pywa, MIT), with shorter texts.
"""

import datetime
import json

from pywa import types
from pywa.types.templates import *

END = datetime.datetime(2029, 1, 1, tzinfo=datetime.timezone.utc)
APP = OTPSupportedApp(package_name="com.example.luckyshrub", signature_hash="K8a/AINcGX7")


def media(component, name):
    """Stands for the upload, which pywa does before it sends."""
    component._resolved_media = name
    return component


def sample(header):
    """Stands for the resumable upload, which pywa does before it creates a template."""
    header._handle = header._example
    return header


sent = {
    "positional": [HeaderText.params("A-1"), BodyText.params("Ada", "25%")],
    "named": [HeaderText.params(order="A-1"), BodyText.params(first_name="Ada")],
    "image": [media(HeaderImage.params(image="42"), "42")],
    "video": [media(HeaderVideo.params(video="42"), "42")],
    "document": [media(HeaderDocument.params(document="42"), "42")],
    "location": [HeaderLocation.params(lat=48.13, lon=11.57, name="Depot 7", address="Ringstr. 1")],
    "product": [HeaderProduct.params(catalog_id="77", sku="sku-1")],
    "quickReply": [QuickReplyButton.params(callback_data="yes-7", index=0)],
    "url": [URLButton.params(url_variable="A-1", index=1)],
    "copyCode": [CopyCodeButton.params(coupon_code="SPRING9", index=0)],
    "flow": [FlowButton.params(index=0, flow_token="t-1", flow_action_data={"k": "v"})],
    "catalog": [CatalogButton.params(thumbnail_product_sku="sku-1", index=0)],
    "products": [
        MPMButton.params(
            thumbnail_product_sku="sku-1",
            index=0,
            product_sections=[types.ProductsSection(title="Top", skus=["sku-1", "sku-2"])],
        )
    ],
    "code": [CopyCodeOTPButton.params(otp="481516")],
    "offer": [LimitedTimeOffer.params(expiration_time=END)],
    "carousel": [
        BodyText.params("Ada"),
        Carousel.params(
            cards=[
                CarouselCard.params(
                    index=0,
                    params=[
                        media(HeaderImage.params(image="1"), "1"),
                        BodyText.params("EUR 9"),
                        QuickReplyButton.params(callback_data="more-0", index=0),
                        URLButton.params(url_variable="aloe", index=1),
                    ],
                ),
                CarouselCard.params(
                    index=1,
                    params=[
                        media(HeaderImage.params(image="2"), "2"),
                        BodyText.params("EUR 12"),
                        QuickReplyButton.params(callback_data="more-1", index=0),
                        URLButton.params(url_variable="buddha", index=1),
                    ],
                ),
            ]
        ),
    ],
    "productCarousel": [
        Carousel.params(
            cards=[
                CarouselCard.params(index=index, params=[HeaderProduct.params(catalog_id="77", sku=sku)])
                for index, sku in enumerate(["sku-1", "sku-2"])
            ]
        )
    ],
}


def card(slug):
    return CarouselCard(
        components=[
            sample(HeaderImage(example="4::an")),
            BodyText("A rare plant."),
            Buttons(
                buttons=[
                    QuickReplyButton(text="Send me more like this!"),
                    URLButton(text="Shop", url="https://www.luckyshrub.com/rare-succulents/{{1}}", example=slug),
                ]
            ),
        ]
    )


def one_time_code(name, button, minutes):
    return Template(
        name=name,
        language=TemplateLanguage.ENGLISH_US,
        category=TemplateCategory.AUTHENTICATION,
        message_send_ttl_seconds=60,
        components=[
            AuthenticationBody(add_security_recommendation=True),
            AuthenticationFooter(code_expiration_minutes=minutes),
            Buttons(buttons=[button]),
        ],
    )


def template(name, *components, category=TemplateCategory.MARKETING):
    return Template(name=name, language=TemplateLanguage.ENGLISH_US, category=category, components=list(components))


created = [
    one_time_code(
        "authentication_code_autofill_button",
        OneTapOTPButton(text="Copy Code", autofill_text="Autofill", supported_apps=[APP, APP]),
        10,
    ),
    one_time_code("authentication_code_copy_code_button", CopyCodeOTPButton(text="Copy Code"), 5),
    one_time_code(
        "zero_tap_auth_template",
        ZeroTapOTPButton(
            text="Copy Code", autofill_text="Autofill", zero_tap_terms_accepted=True, supported_apps=[APP]
        ),
        5,
    ),
    template(
        "seasonal_promotion",
        HeaderText("Our {{1}} is on!", "Summer Sale"),
        BodyText("Shop now through {{1}} and use code {{2}} to get {{3}} off.", "August", "25OFF", "25%"),
        FooterText(text="Use the buttons below"),
        Buttons(
            buttons=[QuickReplyButton(text="Unsubscribe from Promos"), QuickReplyButton(text="Unsubscribe from All")]
        ),
    ),
    template(
        "named_parameters",
        HeaderText("Our {{sale}} is on!", sale="Summer Sale"),
        BodyText("Hello {{first_name}}, shop now.", first_name="Pablo"),
    ),
    template(
        "order_confirmation",
        sample(HeaderDocument(example="4::YX")),
        BodyText("Thank you, {{1}}! Your order number is {{2}}.", "Pablo", "860198-230332"),
        Buttons(
            buttons=[
                PhoneNumberButton(text="Call", phone_number="15550051310"),
                URLButton(text="Contact Support", url="https://www.luckyshrub.com/support"),
            ]
        ),
        category=TemplateCategory.UTILITY,
    ),
    template("video_header", sample(HeaderVideo(example="4::dm")), BodyText("See it grow.")),
    template(
        "order_delivery_update",
        HeaderLocation(),
        BodyText("Good news {{1}}! Your order #{{2}} is on its way.", "Mark", "566701"),
        FooterText(text="To stop receiving updates, tap the button below."),
        Buttons(buttons=[QuickReplyButton(text="Stop Delivery Updates")]),
        category=TemplateCategory.UTILITY,
    ),
    template(
        "abandoned_cart_offer",
        HeaderProduct(),
        BodyText("Use code {{1}} to get {{2}} off our newest succulent!", "25OFF", "25%"),
        FooterText(text="Offer ends September 30, 2024"),
        Buttons(buttons=[SPMButton(text="View")]),
    ),
    template(
        "intro_catalog_offer",
        BodyText("Get Rs {{1}} off on all orders above {{2}}Rs!", "100", "400"),
        FooterText(text="Best grocery deals on WhatsApp!"),
        Buttons(buttons=[CatalogButton(text="View catalog")]),
    ),
    template(
        "coupon_code_fall2023_25off",
        HeaderText("Our Fall Sale is on!"),
        BodyText("Shop now and use code {{1}} to get {{2}} off of all merchandise!", "25OFF", "25%"),
        Buttons(buttons=[QuickReplyButton(text="Unsubscribe"), CopyCodeButton(example="250FF")]),
    ),
    template(
        "abandoned_cart",
        HeaderText("Forget something, {{1}}?", "Pablo"),
        BodyText("Use code {{1}} to get 10% off!", "10OFF"),
        Buttons(buttons=[MPMButton(text="View items")]),
    ),
    template(
        "flow_and_call",
        BodyText("Book a visit."),
        Buttons(
            buttons=[
                FlowButton(
                    text="Start", flow_id="123456", flow_action=types.FlowActionType.NAVIGATE, navigate_screen="START"
                ),
                VoiceCallButton(text="Call us"),
            ]
        ),
    ),
    template(
        "limited_time_offer_caribbean_pkg_2023",
        sample(HeaderImage(example="4::aW")),
        LimitedTimeOffer(text="Expiring offer!", has_expiration=True),
        BodyText("Good news, {{1}}! Use code {{2}} to get 25% off!", "Pablo", "CARIBE25"),
        Buttons(
            buttons=[
                CopyCodeButton(example="CARIBE25"),
                URLButton(text="Book now!", url="https://awesomedestinations.com/offers?code={{1}}", example="n3mtql"),
            ]
        ),
    ),
    template(
        "carousel_template_media_cards_v1",
        BodyText("Rare succulents for sale! {{1}}, see these plants.", "Pablo"),
        Carousel(cards=[card("BLUE_ELF"), card("BUDDHA")]),
    ),
    template(
        "carousel_template_product_cards_v1",
        BodyText("Rare succulents for sale! {{1}}, see these plants.", "Pablo"),
        Carousel(
            cards=[CarouselCard(components=[HeaderProduct(), Buttons(buttons=[SPMButton(text="View")])])] * 2
        ),
    ),
]

print(
    json.dumps(
        {
            "sent": {kind: [component.to_dict() for component in components] for kind, components in sent.items()},
            "created": {template.name: json.loads(template.to_json()) for template in created},
        }
    )
)
