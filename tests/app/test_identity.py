import pytest

from app.identity import Curators
from core.errors import InputError
from core.settings import Settings


@pytest.fixture
def curators():
    return Curators(Settings(_env_file=None, curator_password="correct horse"))


def test_the_right_password_gives_a_token_that_is_known_until_signed_out(curators):
    token = curators.sign_in("correct horse")
    assert curators.knows(token)
    curators.sign_out(token)
    assert not curators.knows(token)


@pytest.mark.parametrize("password", ["", "correct", "correct horse ", "Correct horse", "\ud800"])
def test_a_wrong_password_is_refused(curators, password):
    with pytest.raises(InputError, match="not the curator's password"):
        curators.sign_in(password)


@pytest.mark.parametrize("token", ["", None, 7, ["x"], {"token": "x"}, "x" * 43, "\ud800"])
def test_what_is_not_a_token_is_nobody(curators, token):
    curators.sign_in("correct horse")
    assert not curators.knows(token)


def test_guessing_is_slowed_down_even_for_the_right_password(curators):
    for _ in range(10):
        with pytest.raises(InputError, match="not the curator's"):
            curators.sign_in("guess")
    with pytest.raises(InputError, match="Wait a minute"):
        curators.sign_in("correct horse")


def test_without_a_password_there_is_no_curator():
    with pytest.raises(InputError, match="SUBMIX_CURATOR_PASSWORD"):
        Curators(Settings(_env_file=None)).sign_in("")
