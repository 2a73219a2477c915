use plan_runtime::plan;
use shop::{Charge, FindAddress, FindOffer, Refund, Ship};

plan! {
    PlaceOrder(item: String, customer: String) -> String {
        step offer = FindOffer { item };
        step address = FindAddress { customer };
        #[retry(3)] #[timeout("10s")]
        step payment = Charge { customer, cents: offer.cents };
        #[undo(payment)]
        step refund = Refund { payment: payment.id };
        step parcel = Ship { item, address, payment: payment.id };
        parcel.tracking
    }
}

fn main() {}

mod shop {
    use plan_runtime::{Result, Shape, tool};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Offer {
        pub cents: u64,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Payment {
        pub id: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Parcel {
        pub tracking: String,
    }

    #[tool]
    pub async fn find_offer(item: String) -> Result<Offer> {
        unimplemented!("{item}")
    }

    #[tool]
    pub async fn find_address(customer: String) -> Result<String> {
        unimplemented!("{customer}")
    }

    #[tool]
    pub async fn charge(customer: String, cents: u64) -> Result<Payment> {
        unimplemented!("{customer} {cents}")
    }

    #[tool]
    pub async fn refund(payment: String) -> Result<()> {
        unimplemented!("{payment}")
    }

    #[tool]
    pub async fn ship(item: String, address: String, payment: String) -> Result<Parcel> {
        unimplemented!("{item} {address} {payment}")
    }
}
